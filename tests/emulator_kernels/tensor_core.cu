// A warp's operations on small matrices. Each block is one warp and one product; test_tensor_core.py has the model.
#include "kernels.h"

#include "tensor_core.cuh"

// in: COUNT matrices of 8 x 8 16-bit numbers per block, as bytes of shared memory. out: COUNT registers per lane.
template <int COUNT, bool TRANSPOSED> __global__ void load(const unsigned *in, unsigned *out) {
    __shared__ __align__(16) unsigned tile[COUNT * 32];
    const int lane = threadIdx.x;
    for (int i = 0; i < COUNT; ++i) tile[i * 32 + lane] = in[(blockIdx.x * COUNT + i) * 32 + lane];
    __syncwarp();
    unsigned words[COUNT];
    ldmatrix<COUNT, TRANSPOSED>(words, tile + lane % (8 * COUNT) * 4);
    for (int i = 0; i < COUNT; ++i) out[(blockIdx.x * COUNT + i) * 32 + lane] = words[i];
}
#define LOAD(count, transposed)                                                                                      \
    ENTRY run_load_##count##_##transposed(const Shape *shape, const unsigned *in, unsigned *out) {                   \
        return launch(shape, load<count, transposed>, in, out);                                                      \
    }
LOAD(1, 0)
LOAD(1, 1)
LOAD(2, 0)
LOAD(2, 1)
LOAD(4, 0)
LOAD(4, 1)

// a: 16 x 16, b: 16 x 8 in rows; sums: 16 x 8, in place.
template <typename T> __global__ void products_16(const unsigned short *a, const unsigned short *b, float *sums) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    a += blockIdx.x * 256, b += blockIdx.x * 128, sums += blockIdx.x * 128;
    const auto a_pair = [&](int row, int k) {
        return a[row * 16 + k] | static_cast<unsigned>(a[row * 16 + k + 1]) << 16;
    };
    const auto b_pair = [&](int k) { return b[k * 8 + g] | static_cast<unsigned>(b[(k + 1) * 8 + g]) << 16; };
    const unsigned a_words[4] = {a_pair(g, 2 * t), a_pair(g + 8, 2 * t), a_pair(g, 2 * t + 8),
                                 a_pair(g + 8, 2 * t + 8)};
    const unsigned b_words[2] = {b_pair(2 * t), b_pair(2 * t + 8)};
    float sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    mma_m16n8k16<T>(sum, a_words, b_words);
    for (int i = 0; i < 4; ++i) sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}
ENTRY run_products_float16(const Shape *shape, const unsigned short *a, const unsigned short *b, float *sums) {
    return launch(shape, products_16<__half>, a, b, sums);
}
ENTRY run_products_bfloat16(const Shape *shape, const unsigned short *a, const unsigned short *b, float *sums) {
    return launch(shape, products_16<__nv_bfloat16>, a, b, sums);
}

// a: 16 x 8, b: 8 x 8.
__global__ void products_tf32(const float *a, const float *b, float *sums) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    a += blockIdx.x * 128, b += blockIdx.x * 64, sums += blockIdx.x * 128;
    const float a_words[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + t + 4], a[(g + 8) * 8 + t + 4]};
    const float b_words[2] = {b[t * 8 + g], b[(t + 4) * 8 + g]};
    float sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    mma_m16n8k8_tf32(sum, a_words, b_words);
    for (int i = 0; i < 4; ++i) sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}
ENTRY run_products_tf32(const Shape *shape, const float *a, const float *b, float *sums) {
    return launch(shape, products_tf32, a, b, sums);
}

// a: 16 x K, b: K x 8. K = 0: two products of m8n8k4.
template <int SHAPE> __global__ void products_double(const double *a, const double *b, double *sums) {
    constexpr int K = SHAPE == 0 ? 4 : SHAPE;
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    a += blockIdx.x * 16 * K, b += blockIdx.x * K * 8, sums += blockIdx.x * 128;
    double a_words[K / 2], b_words[K / 4], sum[4];
    for (int i = 0; i < K / 2; ++i) a_words[i] = a[(g + i % 2 * 8) * K + t + i / 2 * 4];
    for (int i = 0; i < K / 4; ++i) b_words[i] = b[(t + 4 * i) * 8 + g];
    for (int i = 0; i < 4; ++i) sum[i] = sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    if constexpr (SHAPE == 0) {
        for (int half = 0; half < 2; ++half) {
            double two[2] = {sum[2 * half], sum[2 * half + 1]};
            mma_m8n8k4_double(two, a_words[half], b_words[0]);
            sum[2 * half] = two[0], sum[2 * half + 1] = two[1];
        }
    } else {
        mma_m16n8_double<K>(sum, a_words, b_words);
    }
    for (int i = 0; i < 4; ++i) sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}
#define PRODUCTS_DOUBLE(size)                                                                                        \
    ENTRY run_products_double_##size(const Shape *shape, const double *a, const double *b, double *sums) {           \
        return launch(shape, products_double<size>, a, b, sums);                                                     \
    }
PRODUCTS_DOUBLE(0)
PRODUCTS_DOUBLE(4)
PRODUCTS_DOUBLE(8)
PRODUCTS_DOUBLE(16)

// Half of the warp does not come.
__global__ void half_a_warp(float *out) {
    float sum[4] = {}, a[4] = {}, b[2] = {};
    if (threadIdx.x < 16) mma_m16n8k8_tf32(sum, a, b); // HERE: half_a_warp
    out[threadIdx.x] = sum[0];
}
ENTRY run_half_a_warp(const Shape *shape, float *out) {
    return launch(shape, half_a_warp, out);
}

// The two halves of the warp call different operations.
__global__ void two_operations(float *out) {
    float sum[4] = {}, a[4] = {}, b[2] = {};
    double sums[2] = {};
    if (threadIdx.x < 16)
        mma_m16n8k8_tf32(sum, a, b); // HERE: two_operations
    else
        mma_m8n8k4_double(sums, 1, 1); // HERE: two_operations
    out[threadIdx.x] = sum[0];
}
ENTRY run_two_operations(const Shape *shape, float *out) {
    return launch(shape, two_operations, out);
}

// Hopper's instructions: mbarrier, tensor_load and tensor_store, wgmma, stmatrix. test_hopper.py has the models.
#include "hopper.h"

struct Place {
    int at[5];
};

// One mask per block; lanes outside it take no part.
__global__ void elections(const unsigned *masks, int *out) {
    const unsigned mask = masks[blockIdx.x], lane = threadIdx.x % 32;
    if (!(mask >> lane & 1)) return;
    int *mine = out + (blockIdx.x * blockDim.x + threadIdx.x) * 3;
    for (int i = 0; i < 3; ++i) mine[i] = mask == 0xffffffff ? elect_one() : elect_one(mask);
}
ENTRY run_elections(const Shape *shape, const unsigned *masks, int *out) {
    return launch(shape, elections, masks, out);
}

ENTRY make_map(const void *address, const tensor_map_shape *shape) {
    tensor_map map;
    return tensor_map_make(&map, address, shape);
}

// --- Copies of boxes ----------------------------------------------------------------------------------------------

template <int AXES>
__global__ void load_box(const __grid_constant__ tensor_map map, Place place, int bytes, unsigned char *out) {
    char *box = boxes();
    __shared__ mbarrier full;
    int at[AXES];
    for (int i = 0; i < AXES; ++i) at[i] = place.at[i];
    if (threadIdx.x == 0) tensor_prefetch(&map), mbarrier_init(&full, 1), mbarrier_init_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_expect(&full, bytes);
        tensor_load(box, &map, &full, at);
    }
    mbarrier_wait(&full, 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = box[i];
}

// WAIT: 0 waits for the array, 1 until the box has been read.
template <int AXES, int WAIT>
__global__ void store_box(const __grid_constant__ tensor_map map, Place place, int bytes, const unsigned char *in) {
    char *box = boxes();
    int at[AXES];
    for (int i = 0; i < AXES; ++i) at[i] = place.at[i];
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) box[i] = in[i];
    fence_async_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        tensor_store(&map, box, at);
        tensor_store_commit();
        tensor_store_wait<0, WAIT != 0>();
    }
    if (WAIT == 0) return;
    __syncthreads(); // the box has been read, and may be overwritten
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) box[i] = 77;
}

template <int AXES>
int copy_box(const Shape *shape, const tensor_map &map, const Place *place, int bytes, unsigned char *data,
             int what) {
    if (what == 0) return launch(shape, load_box<AXES>, map, *place, bytes, data);
    return what == 1 ? launch(shape, store_box<AXES, 0>, map, *place, bytes, data)
                     : launch(shape, store_box<AXES, 1>, map, *place, bytes, data);
}
// what: 0 loads, 1 stores and waits for the array, 2 stores and waits until the box has been read.
ENTRY run_copy(const Shape *shape, const void *array, const tensor_map_shape *map_shape, const Place *place,
               int bytes, unsigned char *data, int what) {
    tensor_map map;
    const int code = tensor_map_make(&map, array, map_shape);
    if (code) return code;
    switch (map_shape->axes) {
    case 2: return copy_box<2>(shape, map, place, bytes, data, what);
    case 3: return copy_box<3>(shape, map, place, bytes, data, what);
    case 4: return copy_box<4>(shape, map, place, bytes, data, what);
    default: return copy_box<5>(shape, map, place, bytes, data, what);
    }
}

// Two stores in two groups, from boxes that are filled one after the other; the first is read when the second is
// begun.
__global__ void two_stores(const __grid_constant__ tensor_map map, int *out) {
    char *memory = boxes();
    int *box = reinterpret_cast<int *>(memory);
    const int t = threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        if (t == 0) tensor_store_wait<1, true>(); // the box of two steps ago may be written again
        __syncthreads();
        box[i % 2 * 64 + t] = 100 * i + t;
        fence_async_proxy();
        __syncthreads();
        if (t == 0) {
            tensor_store(&map, box + i % 2 * 64, {0, 2 * i});
            tensor_store_commit();
        }
    }
    if (t != 0) return;
    tensor_store_wait<0, false>();
    out[8 * 32] = out[0] + 1;
}
ENTRY run_two_stores(const Shape *shape, int *out) {
    tensor_map map;
    const int code = shape_of(&map, out, 4, 32, 8, 32, 2, 0);
    return code ? code : launch(shape, two_stores, map, out);
}

// --- Products -----------------------------------------------------------------------------------------------------

// sums (64 x N, in place) += or = a * b, in steps of 128 bytes along k. GROUPS: each 32 bytes of k are a group of
// their own. a: 64 x depth (A_TRANSPOSED: depth x 64); b: N x depth (B_TRANSPOSED: depth x N).
template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED, bool GROUPS>
__global__ void product(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map, int depth,
                        int add, wgmma_total<T> *sums) {
    constexpr int STEP = 128 / sizeof(T);
    char *a = boxes(), *b = a + 64 * 128;
    __shared__ mbarrier full;
    const int t = threadIdx.x, g = t % 32 / 4;
    if (t == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
    __syncthreads();
    wgmma_total<T> sum[N / 2];
    const auto at = [&](int i) { return (t / 32 * 16 + g + i % 4 / 2 * 8) * N + i / 4 * 8 + t % 4 * 2 + i % 2; };
    for (int i = 0; i < N / 2; ++i) sum[i] = sums[at(i)];
    for (int k = 0; k < depth; k += STEP) {
        if (t == 0) {
            mbarrier_expect(&full, (64 + (B_TRANSPOSED ? (N + 63) / 64 * 64 : N)) * 128);
            if (A_TRANSPOSED)
                tensor_load(a, &a_map, &full, {0, k});
            else
                tensor_load(a, &a_map, &full, {k, 0});
            if (B_TRANSPOSED)
                for (int column = 0; column < N; column += 64)
                    tensor_load(b + column * 128, &b_map, &full, {column, k});
            else
                tensor_load(b, &b_map, &full, {k, 0});
        }
        mbarrier_wait(&full, k / STEP % 2);
        wgmma_fence();
        for (int i = 0; i < 4; ++i) {
            const uint64_t left = wgmma_descriptor_after(wgmma_descriptor(a, 8192), i * (A_TRANSPOSED ? 2048 : 32));
            const uint64_t right = wgmma_descriptor(b + i * (B_TRANSPOSED ? 2048 : 32), 8192);
            wgmma<T, N, A_TRANSPOSED, B_TRANSPOSED>(sum, left, right, add || k > 0 || i > 0);
            if (GROUPS) wgmma_commit();
        }
        if (!GROUPS) wgmma_commit();
        wgmma_wait<0>();
        __syncthreads(); // the next boxes replace these
    }
    for (int i = 0; i < N / 2; ++i) sums[at(i)] = sum[i];
}

template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED>
int multiply(const Shape *shape, const void *a, const void *b, int depth, int add, void *sums) {
    constexpr int STEP = 128 / sizeof(T);
    tensor_map a_map, b_map;
    int code = A_TRANSPOSED ? shape_of(&a_map, a, sizeof(T), 64, depth, 64, STEP, 128)
                            : shape_of(&a_map, a, sizeof(T), depth, 64, STEP, 64, 128);
    if (!code)
        code = B_TRANSPOSED ? shape_of(&b_map, b, sizeof(T), N, depth, 64, STEP, 128)
                            : shape_of(&b_map, b, sizeof(T), depth, N, STEP, N, 128);
    const auto kernel = product<T, N, A_TRANSPOSED, B_TRANSPOSED, N == 64>;
    if (!code) code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape->shared);
    return code ? code : launch(shape, kernel, a_map, b_map, depth, add, static_cast<wgmma_total<T> *>(sums));
}
#define MULTIPLY(kind, T, N)                                                                                         \
    ENTRY run_product_##kind##_##N(const Shape *shape, const void *a, const void *b, int depth, int add, void *sums, \
                                   int layout) {                                                                     \
        return layout == 0   ? multiply<T, N, false, false>(shape, a, b, depth, add, sums)                           \
               : layout == 1 ? multiply<T, N, true, false>(shape, a, b, depth, add, sums)                            \
               : layout == 2 ? multiply<T, N, false, true>(shape, a, b, depth, add, sums)                            \
                             : multiply<T, N, true, true>(shape, a, b, depth, add, sums);                            \
    }
MULTIPLY(float16, __half, 64)
MULTIPLY(float16, __half, 128)
MULTIPLY(float16, __half, 256)
MULTIPLY(bfloat16, __nv_bfloat16, 64)
MULTIPLY(bfloat16, __nv_bfloat16, 128)
MULTIPLY(bfloat16, __nv_bfloat16, 256)
MULTIPLY(float16, __half, 192)
// Columns that are no whole boxes of 64.
MULTIPLY(float16, __half, 80)
MULTIPLY(bfloat16, __nv_bfloat16, 32)
MULTIPLY(bfloat16, __nv_bfloat16, 40)
MULTIPLY(bfloat16, __nv_bfloat16, 56)
MULTIPLY(bfloat16, __nv_bfloat16, 80)
MULTIPLY(bfloat16, __nv_bfloat16, 112)
// The same with A in registers, from global memory: sums += or = a * b, where a has 64 x depth and depth is a
// multiple of 64.
template <typename T, int N, bool B_TRANSPOSED>
__global__ void product_of_registers(const __grid_constant__ tensor_map b_map, const unsigned short *a, int depth,
                                     int add, float *sums) {
    char *b = boxes();
    __shared__ mbarrier full;
    const int t = threadIdx.x, g = t % 32 / 4, row = t / 32 * 16 + g;
    if (t == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
    __syncthreads();
    float sum[N / 2];
    const auto at = [&](int i) { return (row + i % 4 / 2 * 8) * N + i / 4 * 8 + t % 4 * 2 + i % 2; };
    for (int i = 0; i < N / 2; ++i) sum[i] = sums[at(i)];
    for (int k = 0; k < depth; k += 64) {
        if (t == 0) {
            mbarrier_expect(&full, N * 128);
            if (B_TRANSPOSED)
                for (int column = 0; column < N; column += 64)
                    tensor_load(b + column * 128, &b_map, &full, {column, k});
            else
                tensor_load(b, &b_map, &full, {k, 0});
        }
        mbarrier_wait(&full, k / 64 % 2);
        unsigned left[4][4];
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                const unsigned short *two = a + (row + j % 2 * 8) * depth + k + i * 16 + t % 4 * 2 + j / 2 * 8;
                left[i][j] = two[0] | static_cast<unsigned>(two[1]) << 16;
            }
        wgmma_fence();
        for (int i = 0; i < 4; ++i)
            wgmma<T, N, B_TRANSPOSED>(sum, left[i], wgmma_descriptor(b + i * (B_TRANSPOSED ? 2048 : 32), 8192),
                                      add || k > 0 || i > 0);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads(); // the next boxes replace these
    }
    for (int i = 0; i < N / 2; ++i) sums[at(i)] = sum[i];
}
template <typename T, int N, bool B_TRANSPOSED>
int multiply_registers(const Shape *shape, const void *a, const void *b, int depth, int add, float *sums) {
    tensor_map map;
    int code =
        B_TRANSPOSED ? shape_of(&map, b, 2, N, depth, 64, 64, 128) : shape_of(&map, b, 2, depth, N, 64, N, 128);
    const auto kernel = product_of_registers<T, N, B_TRANSPOSED>;
    if (!code) code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape->shared);
    return code ? code : launch(shape, kernel, map, static_cast<const unsigned short *>(a), depth, add, sums);
}
#define MULTIPLY_REGISTERS(kind, T, N)                                                                               \
    ENTRY run_registers_##kind##_##N(const Shape *shape, const void *a, const void *b, int depth, int add,           \
                                     float *sums, int layout) {                                                      \
        return (layout & 2 ? multiply_registers<T, N, true> : multiply_registers<T, N, false>)(shape, a, b, depth,   \
                                                                                               add, sums);           \
    }
MULTIPLY_REGISTERS(float16, __half, 64)
MULTIPLY_REGISTERS(float16, __half, 128)
MULTIPLY_REGISTERS(float16, __half, 256)
MULTIPLY_REGISTERS(bfloat16, __nv_bfloat16, 64)
MULTIPLY_REGISTERS(bfloat16, __nv_bfloat16, 256)

#define MULTIPLY_ALONG_K(kind, T, N)                                                                                 \
    ENTRY run_product_##kind##_##N(const Shape *shape, const void *a, const void *b, int depth, int add, void *sums, \
                                   int) {                                                                            \
        return multiply<T, N, false, false>(shape, a, b, depth, add, sums);                                          \
    }
MULTIPLY_ALONG_K(tf32, float, 64)
MULTIPLY_ALONG_K(tf32, float, 128)
MULTIPLY_ALONG_K(tf32, float, 256)
MULTIPLY_ALONG_K(int8, int8_t, 64)
MULTIPLY_ALONG_K(int8, int8_t, 128)
MULTIPLY_ALONG_K(int8, int8_t, 256)
MULTIPLY_ALONG_K(float16, __half, 208)
MULTIPLY_ALONG_K(bfloat16, __nv_bfloat16, 208)
MULTIPLY_ALONG_K(tf32, float, 208)
MULTIPLY_ALONG_K(int8, int8_t, 112)

// 64 x 64 products of operands that TMA writes with another swizzle than the descriptors say, which is 128 bytes.
__global__ void mismatched(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                           float *out) {
    char *a = boxes(), *b = a + 8192;
    __shared__ mbarrier full;
    const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4;
    if (t == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
    __syncthreads();
    if (t == 0) {
        mbarrier_expect(&full, 2 * 8192);
        tensor_load(a, &a_map, &full, {0, 0});
        tensor_load(b, &b_map, &full, {0, 0});
    }
    mbarrier_wait(&full, 0);
    float sum[32];
    wgmma_fence();
    for (int i = 0; i < 4; ++i)
        wgmma<__half, 64, false, false>(sum, wgmma_descriptor(a + i * 32, 0), wgmma_descriptor(b + i * 32, 0), i > 0);
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) out[(row + i % 4 / 2 * 8) * 64 + i / 4 * 8 + t % 4 * 2 + i % 2] = sum[i];
}
// a, b: 8192 bytes each, as rows of `width` elements.
ENTRY run_mismatched(const Shape *shape, const void *a, const void *b, int width, int swizzle, float *out) {
    tensor_map a_map, b_map;
    int code = shape_of(&a_map, a, 2, width, 4096 / width, width, 4096 / width, swizzle);
    if (!code) code = shape_of(&b_map, b, 2, width, 4096 / width, width, 4096 / width, swizzle);
    return code ? code : launch(shape, mismatched, a_map, b_map, out);
}

// Three groups with sums of their own, waited for one after another. out[i]: sums of group i, that is 16 (i + 1).
__global__ void groups(float *out) {
    char *a = boxes();
    const int t = threadIdx.x;
    float sum[3][32] = {};
    fill<64>(a, __float2half(1.0f));
    wgmma_fence();
    multiply_64<64>(sum[0], a, false, 1);
    wgmma_commit();
    multiply_64<64>(sum[1], a, false, 2);
    wgmma_commit();
    multiply_64<64>(sum[2], a, true, 3);
    wgmma_commit();
    wgmma_wait<2>();
    for (int i = 0; i < 32; ++i) out[i * 128 + t] = sum[0][i];
    wgmma_wait<1>();
    for (int i = 0; i < 32; ++i) out[(32 + i) * 128 + t] = sum[1][i];
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) out[(64 + i) * 128 + t] = sum[2][i];
}
ENTRY run_groups(const Shape *shape, float *out) {
    return launch(shape, groups, out);
}

// --- Matrices of 8 x 8 elements -----------------------------------------------------------------------------------

// in: four registers per lane. out: four matrices of 8 x 8 16-bit numbers.
__global__ void store_matrices(const unsigned *in, unsigned *out) {
    __shared__ __align__(16) unsigned tile[4 * 32];
    const int lane = threadIdx.x;
    unsigned words[4];
    for (int i = 0; i < 4; ++i) words[i] = in[(blockIdx.x * 4 + i) * 32 + lane];
    stmatrix(tile + lane * 4, words);
    __syncwarp();
    for (int i = 0; i < 4; ++i) out[(blockIdx.x * 4 + i) * 32 + lane] = tile[i * 32 + lane];
}
ENTRY run_store_matrices(const Shape *shape, const unsigned *in, unsigned *out) {
    return launch(shape, store_matrices, in, out);
}

// --- A producer and consumers -------------------------------------------------------------------------------------

constexpr int STAGES = 3;

// Warpgroup 0 loads tiles of 8 x 32 numbers; each thread of the other two adds one number of each tile. In the end
// the consumers exchange their sums.
__global__ void __launch_bounds__(384, 1) pipeline(const __grid_constant__ tensor_map map, int tiles, float *out) {
    float *stage = reinterpret_cast<float *>(boxes());
    __shared__ mbarrier full[STAGES], empty[STAGES];
    __shared__ float sums[256];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], 2);
        mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        give_up_registers<40>();
        for (int i = 0; i < tiles && threadIdx.x == 0; ++i) {
            const int at = i % STAGES;
            mbarrier_wait(&empty[at], i / STAGES % 2 ^ 1);
            mbarrier_expect(&full[at], 1024);
            tensor_load(stage + at * 256, &map, &full[at], {0, 8 * i});
        }
    } else {
        get_registers<232>();
        const int t = threadIdx.x - 128;
        float sum = 0;
        for (int i = 0; i < tiles; ++i) {
            const int at = i % STAGES;
            mbarrier_wait(&full[at], i / STAGES % 2);
            sum += stage[at * 256 + t];
            sync_threads_of(1 + t / 128, 128); // the whole warpgroup has read
            if (t % 128 == 0) mbarrier_arrive(&empty[at]);
        }
        sums[t] = sum;
        sync_threads_of(3, 256);
        out[t] = sum + 2 * sums[255 - t];
    }
}
ENTRY run_pipeline(const Shape *shape, const float *in, int tiles, float *out) {
    tensor_map map;
    const int code = shape_of(&map, in, 4, 32, 8 * (tiles ? tiles : 1), 32, 8, 0);
    return code ? code : launch(shape, pipeline, map, tiles, out);
}

// Phases of one barrier without copies: two halves of the block take turns.
__global__ void turns(int *out) {
    __shared__ mbarrier even, odd;
    __shared__ int count;
    const int half = blockDim.x / 2;
    if (threadIdx.x == 0) {
        mbarrier_init(&even, half), mbarrier_init(&odd, half), count = 0;
        mbarrier_init_fence();
    }
    __syncthreads();
    for (int i = 0; i < 10; ++i) {
        if (static_cast<int>(threadIdx.x) < half) {
            mbarrier_wait(&odd, i % 2 ^ 1);
            if (threadIdx.x == 0) out[2 * i] = count++;
            mbarrier_arrive(&even);
        } else {
            mbarrier_wait(&even, i % 2);
            if (static_cast<int>(threadIdx.x) == half) out[2 * i + 1] = count++;
            mbarrier_arrive(&odd);
        }
    }
}
ENTRY run_turns(const Shape *shape, int *out) {
    return launch(shape, turns, out);
}

// Turns at numbered barriers: each half of the block waits at its own barrier, and arrives at that of the other half.
// Nobody waits for the last arrival.
__global__ void turns_of_parts(int *out) {
    __shared__ int count;
    const int threads = static_cast<int>(blockDim.x), half = threads / 2, own = static_cast<int>(threadIdx.x) / half;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (own == 1) arrive_threads_of(2, threads);
    for (int i = 0; i < 10; ++i) {
        sync_threads_of(2 + own, threads);
        if (static_cast<int>(threadIdx.x) % half == 0) out[2 * i + own] = count++;
        arrive_threads_of(3 - own, threads);
    }
}
ENTRY run_turns_of_parts(const Shape *shape, int *out) {
    return launch(shape, turns_of_parts, out);
}

// Thread 0 waits for a box, and another warp for thread 0, by attempts: the box must arrive all the same.
__global__ void attempts(const __grid_constant__ tensor_map map, int *out) {
    int *box = reinterpret_cast<int *>(boxes());
    __shared__ mbarrier full;
    __shared__ int flag;
    if (threadIdx.x == 0) mbarrier_init(&full, 1), mbarrier_init_fence(), flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_expect(&full, 1024);
        tensor_load(box, &map, &full, {0, 0});
        mbarrier_wait(&full, 0);
        atomicExch(&flag, box[255]);
    }
    if (threadIdx.x != 32) return;
    int value = 0;
    while (value == 0) value = atomicAdd(&flag, 0);
    out[256] = value;
}
ENTRY run_attempts(const Shape *shape, int *out) {
    tensor_map map;
    const int code = shape_of(&map, out, 4, 32, 8, 32, 8, 0);
    return code ? code : launch(shape, attempts, map, out);
}

// A thread waits for the result of a product, by attempts.
__global__ void attempts_at_a_product(int *out) {
    char *a = boxes();
    __shared__ int result;
    if (threadIdx.x == 0) result = 0;
    fill<64>(a, __float2half(1.0f));
    if (threadIdx.x < 128) {
        float sum[32] = {};
        wgmma_fence();
        multiply_64<64>(sum, a, false);
        wgmma_commit();
        wgmma_wait<0>();
        if (threadIdx.x == 0) atomicExch(&result, static_cast<int>(sum[0]));
    } else if (threadIdx.x == 128) {
        int value = 0;
        while (value == 0) value = atomicAdd(&result, 0);
        out[0] = value;
    }
}
ENTRY run_attempts_at_a_product(const Shape *shape, int *out) {
    return launch(shape, attempts_at_a_product, out);
}

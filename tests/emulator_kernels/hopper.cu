// Hopper's instructions: mbarrier, tensor_load and tensor_store, wgmma, stmatrix. test_hopper.py has the models.
#include "kernels.h"

#include "mbarrier.cuh"
#include "tensor_copy.cuh"
#include "tensor_core.cuh"
#include "tensor_map.h"
#include "wgmma.cuh"

// Dynamic shared memory from a multiple of 1024 bytes on: launches ask for 1024 bytes more.
__device__ __forceinline__ char *boxes() {
    DYNAMIC_SHARED(char, memory);
    const size_t address = reinterpret_cast<size_t>(memory);
    return memory + ((address + 1023) / 1024 * 1024 - address);
}

struct Place {
    int at[5];
};

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
    if (threadIdx.x == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_expect(&full, bytes);
        tensor_load(box, &map, &full, at);
    }
    mbarrier_wait(&full, 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = box[i];
}

// WAIT: 0 waits for the array, 1 until the box has been read, 2 for two groups of which the second is another box.
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
ENTRY run_copy(const Shape *shape, const void *array, const tensor_map_shape *boxed, const Place *place, int bytes,
               unsigned char *data, int what) {
    tensor_map map;
    const int code = tensor_map_make(&map, array, boxed);
    if (code) return code;
    switch (boxed->axes) {
    case 2: return copy_box<2>(shape, map, place, bytes, data, what);
    case 3: return copy_box<3>(shape, map, place, bytes, data, what);
    case 4: return copy_box<4>(shape, map, place, bytes, data, what);
    default: return copy_box<5>(shape, map, place, bytes, data, what);
    }
}

// Two stores in two groups, from boxes that are filled one after the other; the first is read when the second is begun.
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
static int shape_of(tensor_map *map, const void *address, int element, int width, int height, int box_width,
                    int box_height, int swizzle) {
    tensor_map_shape shape = {};
    shape.element_bytes = element;
    shape.axes = 2;
    shape.lengths[0] = width, shape.lengths[1] = height;
    shape.strides[1] = static_cast<uint64_t>(width) * element;
    shape.box[0] = box_width, shape.box[1] = box_height;
    shape.swizzle = swizzle;
    return tensor_map_make(map, address, &shape);
}
ENTRY run_two_stores(const Shape *shape, int *out) {
    tensor_map map;
    const int code = shape_of(&map, out, 4, 32, 8, 32, 2, 0);
    return code ? code : launch(shape, two_stores, map, out);
}

// --- Products -----------------------------------------------------------------------------------------------------

// sums (64 x N, in place) += or = a * b, in steps of 64 along k. GROUPS: each 16 of k are a group of their own.
// a: 64 x depth (A_TRANSPOSED: depth x 64); b: N x depth (B_TRANSPOSED: depth x N).
template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED, bool GROUPS>
__global__ void product(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map, int depth,
                        int add, float *sums) {
    char *a = boxes(), *b = a + 64 * 128;
    __shared__ mbarrier full;
    const int t = threadIdx.x, g = t % 32 / 4;
    if (t == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
    __syncthreads();
    float sum[N / 2];
    const auto at = [&](int i) { return (t / 32 * 16 + g + i % 4 / 2 * 8) * N + i / 4 * 8 + t % 4 * 2 + i % 2; };
    for (int i = 0; i < N / 2; ++i) sum[i] = sums[at(i)];
    for (int k = 0; k < depth; k += 64) {
        if (t == 0) {
            mbarrier_expect(&full, (64 + N) * 128);
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
        mbarrier_wait(&full, k / 64 % 2);
        wgmma_fence();
        for (int i = 0; i < 4; ++i) {
            const uint64_t left = wgmma_descriptor(a + i * (A_TRANSPOSED ? 2048 : 32), 8192);
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
int multiply(const Shape *shape, const void *a, const void *b, int depth, int add, float *sums) {
    tensor_map a_map, b_map;
    int code = A_TRANSPOSED ? shape_of(&a_map, a, 2, 64, depth, 64, 64, 128)
                            : shape_of(&a_map, a, 2, depth, 64, 64, 64, 128);
    if (!code)
        code = B_TRANSPOSED ? shape_of(&b_map, b, 2, N, depth, 64, 64, 128)
                            : shape_of(&b_map, b, 2, depth, N, 64, N, 128);
    const auto kernel = product<T, N, A_TRANSPOSED, B_TRANSPOSED, N == 64>;
    if (!code) code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape->shared);
    return code ? code : launch(shape, kernel, a_map, b_map, depth, add, sums);
}
#define MULTIPLY(kind, T, N)                                                                                         \
    ENTRY run_product_##kind##_##N(const Shape *shape, const void *a, const void *b, int depth, int add,             \
                                   float *sums, int layout) {                                                        \
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

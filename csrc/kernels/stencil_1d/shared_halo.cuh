// stencil_1d "shared_halo": comes after "global_memory".
//
// Change  A block first loads its elements, and a halo of `radius` elements on each side, into shared memory.
// Why     What many threads of a block read is fetched once for all of them. On an H200 this is slower all the same,
//         because its L1 cache does the same without a barrier.
// Claim   words that threads read from global memory per element: (threads + 2*radius) / threads (before: 2*radius +
//         1)
// Price   threads + 2*radius words of shared memory and one barrier; each halo is fetched by two blocks
// Edges   The tile holds 0 outside the array, so no sum checks the edge. Threads beyond the array help to load, reach
//         the barrier and store nothing.
// Map     tile[k] is x[first + k - radius], first = blockIdx.x * blockDim.x; thread t adds tile[t] to tile[t +
//         2*radius]
// Limit   2*radius + 1 loads from shared memory for as many additions: see "register_window"
#ifndef CK_STENCIL_1D_SHARED_HALO_CUH
#define CK_STENCIL_1D_SHARED_HALO_CUH

#include "../element.cuh"
#include "../grid.cuh"
#include "../numbers.cuh"
#include "device_extras.cuh"

namespace stencil_1d {

// All threads of the block together load `length` elements from x[start] on, and 0 outside the array.
template <typename T>
__device__ __forceinline__ void load_tile(number<T> *tile, int length, const T *__restrict__ x, int64_t start,
                                          int64_t n) {
    for (int k = threadIdx.x; k < length; k += static_cast<int>(blockDim.x)) {
        const int64_t i = start + k;
        tile[k] = i >= 0 && i < n ? number_cast<number<T>>(x[i]) : number<T>(0);
    }
    __syncthreads(); // a thread adds elements that other threads loaded
}

template <typename T>
__global__ void __launch_bounds__(1024)
    shared_halo(const T *__restrict__ x, T *__restrict__ result, int64_t n, int radius) {
    DYNAMIC_SHARED(number<T>, tile);
    const int tid = threadIdx.x, threads = blockDim.x;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * threads;
    load_tile(tile, threads + 2 * radius, x, first - radius, n);
    if (first + tid >= n) return;
    number<T> sum = 0;
    for (int k = 0; k <= 2 * radius; ++k) sum += tile[tid + k];
    result[first + tid] = number_cast<T>(sum);
}

} // namespace stencil_1d

#endif

// interp "shared": comes after "global_memory".
//
// Change  Each block first copies the whole table into its shared memory.
// Why     A step of the search waits for shared memory, not for a cache, and lanes that diverge cost bank conflicts,
//         not a memory transaction each.
// Claim   words of the table read from global memory: 2n per block, for any number of points
// Price   2n elements of shared memory: long tables leave room for few blocks, and the longest ones for none
// Edges   A block without points copies the table all the same: all threads reach the barrier.
// Map     point i: thread i % grid_threads()
// Limit   Neighboring threads still search different parts, with bank conflicts: "texture" has no search.
#ifndef CK_INTERP_SHARED_CUH
#define CK_INTERP_SHARED_CUH

#include <device_extras.cuh>

#include "global_memory.cuh"

namespace interp {

template <typename T>
__global__ void __launch_bounds__(1024)
    shared(const T *__restrict__ x, const T *__restrict__ xp, const T *__restrict__ fp, const T *__restrict__ left,
           const T *__restrict__ right, T *__restrict__ result, int64_t points, int64_t n) {
    DYNAMIC_SHARED(T, table);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
        table[i] = xp[i];
        table[n + i] = fp[i];
    }
    __syncthreads();
    for (int64_t i = grid_thread(); i < points; i += grid_threads())
        result[i] = value_at<T>(table, table + n, n, x[i], *left, *right);
}

} // namespace interp

#endif

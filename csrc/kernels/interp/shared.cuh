// interp "shared": comes after "global_memory".
//
// Change  Each block first copies the whole table into its shared memory.
// Why     A step of the search waits for shared memory, not for a cache; and threads that go apart cost what their
//         banks collide, not a line of memory each.
// Claim   words read from global memory for the table: 2n a block, however many points it has
// Price   2n elements of shared memory: long tables leave room for few blocks, and the longest for none
// Edges   a block without a point copies the table all the same: all threads come to the barrier
// Map     point i: thread i % grid_threads()
// Limit   neighbours still search apart, in banks that collide: "texture" has no search
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

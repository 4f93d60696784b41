// vector_add "grid_stride": comes after "naive".
//
// Change  A grid of the chip's size, whatever the array's: each thread goes on by as many elements as there are
//         threads.
// Why     Blocks are started once, not once for every 256 elements; and the same launch fits every length.
// Claim   blocks started for n elements: at most 2048 threads a multiprocessor (before: n / 256 blocks)
// Price   a loop: an addition and a comparison an element
// Edges   the loop's condition is the edge; a thread without an element never enters it
// Map     element i: thread i % grid_threads()
// Limit   one element a step: 4 bytes a load, and few of them under way: "vectorized"
#ifndef CK_VECTOR_ADD_GRID_STRIDE_CUH
#define CK_VECTOR_ADD_GRID_STRIDE_CUH

#include "naive.cuh"

namespace vector_add {

template <typename T>
__global__ void __launch_bounds__(1024)
    grid_stride(const T *__restrict__ x, const T *__restrict__ y, T *__restrict__ result, int64_t n) {
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) result[i] = add(x[i], y[i]);
}

} // namespace vector_add

#endif

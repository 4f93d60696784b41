// vector_add "grid_stride": comes after "naive".
//
// Change  The grid fits the chip, not the array. Each thread takes one element after another, at a distance of the
//         number of threads in the grid.
// Why     Blocks are started once, not once for every 256 elements, and the same launch works for every length.
// Claim   blocks started for n elements: those of at most 2048 threads per multiprocessor (before: n / 256 blocks)
// Price   a loop: one addition and one comparison per element
// Edges   The loop condition checks the edge; a thread without an element does not enter the loop.
// Map     element i: thread i % grid_threads()
// Limit   one element per step: 4 bytes per load, and few loads in flight: see "vectorized"
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

// saxpy "grid_stride": comes after "naive".
//
// Change  The grid fits the chip, not the array. Each thread takes one element after another, at a distance of the
//         number of threads in the grid.
// Why     The factor stays in a register from one element to the next, and blocks are started only once.
// Claim   loads of the factor: one per thread, at most 2048 threads per multiprocessor (before: one per element)
// Price   a loop: one addition and one comparison per element
// Edges   The loop condition checks the edge; a thread without an element does not enter the loop.
// Map     element i: thread i % grid_threads()
// Limit   one element per step: 4 bytes per load, and few loads in flight: see "vectorized"
#ifndef CK_SAXPY_GRID_STRIDE_CUH
#define CK_SAXPY_GRID_STRIDE_CUH

#include "naive.cuh"

namespace saxpy {

template <typename T>
__global__ void __launch_bounds__(1024) grid_stride(const T *__restrict__ a, const T *__restrict__ x,
                                                    const T *__restrict__ y, T *__restrict__ result, int64_t n) {
    const number<T> factor = number_cast<number<T>>(*a);
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) result[i] = axpy(factor, x[i], y[i]);
}

} // namespace saxpy

#endif

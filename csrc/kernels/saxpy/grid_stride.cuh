// saxpy "grid_stride": comes after "naive".
//
// Change  A grid of the chip's size, whatever the array's: each thread goes on by as many elements as there are
//         threads.
// Why     The factor stays in a register from one element to the next, and blocks are started once.
// Claim   loads of the factor: one a thread, at most 2048 threads a multiprocessor (before: one an element)
// Price   a loop: an addition and a comparison an element
// Edges   the loop's condition is the edge; a thread without an element never enters it
// Map     element i: thread i % grid_threads()
// Limit   one element a step: 4 bytes a load, and few of them under way: "vectorized"
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

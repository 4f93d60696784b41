// hello "greeting": the first kernel.
//
// Idea    Each thread prints its block and thread index, and adds its index in the grid to an element, so that the
//         result can be checked too.
// Why     The output of printf in a kernel goes to a buffer on the device. The host prints the buffer when it
//         synchronizes with the device; without a synchronization, nothing appears.
// Claim   lines printed: the number of threads that have an element, but at most `lines`
// Price   A printf takes registers, and local memory for its arguments, and all threads share one buffer of 1 MiB.
// Edges   The last block has threads past the end of the array: they print nothing.
// Map     i = blockIdx.x * blockDim.x + threadIdx.x
// Limit   The order of the lines is not defined.
#ifndef CK_HELLO_GREETING_CUH
#define CK_HELLO_GREETING_CUH

#include <stdio.h>

#include "../grid.cuh"

namespace hello {

__global__ void __launch_bounds__(1024)
    greeting(const uint32_t *__restrict__ x, uint32_t *__restrict__ y, int64_t n, int64_t lines) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    y[i] = x[i] + static_cast<uint32_t>(i);
    if (i < lines) printf("Hello from block %u, thread %u\n", blockIdx.x, threadIdx.x);
}

} // namespace hello

#endif

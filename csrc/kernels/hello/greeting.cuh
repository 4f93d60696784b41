// hello "greeting": the first kernel.
//
// Idea    Each thread says who it is, and adds its number to an element, so that what it did can be checked, too.
// Why     A kernel runs out of sight. printf in it writes to a buffer on the device, which the host empties when it
//         synchronizes: no synchronization, no greeting.
// Claim   lines printed: as many as threads that have an element, and no more than asked for
// Price   a printf costs a kernel registers, local memory for its arguments, and its turn at one buffer of 1 MiB
// Edges   the last block has threads beyond the array: they are silent
// Map     i = blockIdx.x * blockDim.x + threadIdx.x
// Limit   which thread prints first is nobody's promise
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

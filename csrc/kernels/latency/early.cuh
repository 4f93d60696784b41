// latency "early": comes after "late".
//
// Change  The load is started before the chain, and its value is used after it.
// Why     A load only starts; the thread goes on until it needs the value. Chain and latency run side by side.
// Claim   the time of an element: the longer of chain and latency (before: their sum)
// Price   a register, from the load to its use
// Edges   the loop's condition is the edge
// Map     element i: thread i % grid_threads()
// Limit   one load in flight per thread: "several"
#ifndef CK_LATENCY_EARLY_CUH
#define CK_LATENCY_EARLY_CUH

#include "late.cuh"

namespace latency {

__global__ void __launch_bounds__(1024)
    early(const uint32_t *__restrict__ x, uint32_t *__restrict__ result, int64_t n) {
#pragma unroll 1 // unrolled, several loads would be under way
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const uint32_t loaded = x[i];
        result[i] = loaded + chain(i);
    }
}

} // namespace latency

#endif

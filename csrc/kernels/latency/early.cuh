// latency "early": comes after "late".
//
// Change  The load is issued before the chain of multiply-adds, and its value is used after the chain.
// Why     A load does not block: the thread continues until it needs the value. The chain runs during the load.
// Claim   time per element: the longer of the chain and the latency (before: their sum)
// Price   one register, from the load to the use of its value
// Edges   The loop condition handles the end of the array.
// Map     element i: thread i % grid_threads()
// Limit   one load in flight per thread: see "several"
#ifndef CK_LATENCY_EARLY_CUH
#define CK_LATENCY_EARLY_CUH

#include "late.cuh"

namespace latency {

__global__ void __launch_bounds__(1024)
    early(const uint32_t *__restrict__ x, uint32_t *__restrict__ result, int64_t n) {
#pragma unroll 1 // unrolling would put several loads in flight
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const uint32_t loaded = x[i];
        result[i] = loaded + chain(i);
    }
}

} // namespace latency

#endif

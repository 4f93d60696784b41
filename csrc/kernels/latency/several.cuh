// latency "several": comes after "early".
//
// Change  A thread starts the loads of several elements, and computes all their chains, before it uses the first.
// Why     Loads wait side by side, and so do the multiply-adds of chains that do not need each other.
// Claim   loads in flight per thread: ELEMENTS (before: 1); the time of ELEMENTS elements: nearly that of one, while
//         there is room
// Price   a register for each element's load and one for its chain
// Edges   elements beyond the end are neither loaded nor stored; their chains are computed for nothing
// Map     element i: thread i % grid_threads(); a thread's elements of one turn are grid_threads() apart, so that
//         neighboring threads still read neighbors
// Limit   registers; and bytes in flight beyond what the memory can serve only wait
#ifndef CK_LATENCY_SEVERAL_CUH
#define CK_LATENCY_SEVERAL_CUH

#include "late.cuh"

namespace latency {

template <int ELEMENTS>
__global__ void __launch_bounds__(1024)
    several(const uint32_t *__restrict__ x, uint32_t *__restrict__ result, int64_t n) {
    const int64_t threads = grid_threads();
#pragma unroll 1 // ELEMENTS at once, and no more
    for (int64_t first = grid_thread(); first < n; first += ELEMENTS * threads) {
        uint32_t loaded[ELEMENTS], value[ELEMENTS];
#pragma unroll
        for (int e = 0; e < ELEMENTS; ++e) {
            const int64_t i = first + e * threads;
            loaded[e] = i < n ? x[i] : 0;
            value[e] = static_cast<uint32_t>(i);
        }
        for (int round = 0; round < ROUNDS; ++round)
#pragma unroll
            for (int e = 0; e < ELEMENTS; ++e) value[e] = link(value[e]);
#pragma unroll
        for (int e = 0; e < ELEMENTS; ++e) {
            const int64_t i = first + e * threads;
            if (i < n) result[i] = loaded[e] + value[e];
        }
    }
}

} // namespace latency

#endif

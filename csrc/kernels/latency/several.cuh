// latency "several": comes after "early".
//
// Change  A thread issues the loads of several elements, and computes all their chains, before it uses the first
//         value.
// Why     The latencies of independent loads overlap, and so do the multiply-adds of independent chains.
// Claim   loads in flight per thread: ELEMENTS (before: 1). ELEMENTS elements take about the time of one, as long as
//         resources suffice.
// Price   two registers per element: one for the loaded value, one for the chain
// Edges   Elements past the end are neither loaded nor stored; their chains are computed in vain.
// Map     element i: thread i % grid_threads(). The elements that a thread processes together are grid_threads()
//         apart, so neighboring threads still read neighboring elements.
// Limit   the number of registers; and once the bytes in flight saturate the memory, additional loads only wait
#ifndef CK_LATENCY_SEVERAL_CUH
#define CK_LATENCY_SEVERAL_CUH

#include "late.cuh"

namespace latency {

template <int ELEMENTS>
__global__ void __launch_bounds__(1024)
    several(const uint32_t *__restrict__ x, uint32_t *__restrict__ result, int64_t n) {
    const int64_t threads = grid_threads();
#pragma unroll 1 // exactly ELEMENTS elements at once
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

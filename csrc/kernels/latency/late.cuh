// latency "late": the first kernel of the ladder.
//
// Idea    A thread first computes a chain of multiply-adds and loads its element only when it needs it. The compiler
//         cannot move the load up, because its address depends on the result of the chain (`never` is 0, which masks
//         that result out).
// Claim   loads in flight per thread: 1, and none during the chain; time per element: chain + latency
// Price   The thread waits for the full latency, unless other warps have work in the meantime.
// Edges   The loop condition handles the end of the array.
// Map     element i: thread i % grid_threads()
// Limit   The thread does no work of its own during the wait: see "early".
#ifndef CK_LATENCY_LATE_CUH
#define CK_LATENCY_LATE_CUH

#include "../grid.cuh"

namespace latency {

enum { ROUNDS = 64 };

// Squares, because a compiler can reduce a chain with a constant factor to a single multiply-add.
__device__ __forceinline__ uint32_t link(uint32_t value) {
    return value * value + 12345u;
}
__device__ __forceinline__ uint32_t chain(int64_t i) {
    uint32_t value = static_cast<uint32_t>(i);
    for (int round = 0; round < ROUNDS; ++round) value = link(value);
    return value;
}

__global__ void __launch_bounds__(1024)
    late(const uint32_t *__restrict__ x, uint32_t *__restrict__ result, int64_t n, uint32_t never) {
#pragma unroll 1 // unrolling would put several loads in flight
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const uint32_t computed = chain(i);
        result[i] = x[i + (computed & never)] + computed;
    }
}

} // namespace latency

#endif

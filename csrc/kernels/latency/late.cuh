// latency "late": the ladder begins here.
//
// Idea    A thread first computes, a chain of multiply-adds, and loads its element when it is needed. That the load
//         comes late is made sure: its address waits for the chain's result (of which `never`, 0, leaves nothing).
// Claim   loads in flight per thread: one, and none while it computes; the time of an element: chain + latency
// Price   the latency is waited for in full, unless other warps have work meanwhile
// Edges   the loop's condition is the edge
// Map     element i: thread i % grid_threads()
// Limit   nothing of the thread's own fills the wait: "early"
#ifndef CK_LATENCY_LATE_CUH
#define CK_LATENCY_LATE_CUH

#include "../grid.cuh"

namespace latency {

enum { ROUNDS = 64 };

// Squares: of a chain with a constant factor a compiler makes one multiply-add.
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
#pragma unroll 1 // unrolled, several loads would be under way
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const uint32_t computed = chain(i);
        result[i] = x[i + (computed & never)] + computed;
    }
}

} // namespace latency

#endif

// coalescing "elementwise": the ladder begins here.
//
// Idea    Thread i reads element offset + stride * i and writes element i: NumPy's x[offset::stride]. A warp's 32 loads
//         are one request, and memory moves whole sectors of 32 bytes: what counts is how many of them the 32 addresses
//         touch. The lane `idle` of each warp reads nothing.
// Claim   sectors per request of 4-byte loads: 4 for stride 1 from a multiple of 8 on, 5 from elsewhere, 4 * stride up to
//         stride 8, then 32; a lane that takes no part changes none of these
// Price   for the elements that nobody wants: their share of the memory's speed
// Edges   the last block has threads beyond the result: they do nothing
// Map     element i: thread i of the grid, which is lane i % 32 where a block has a multiple of 32 threads
// Limit   one load in flight per thread: "latency" has several
#ifndef CK_COALESCING_ELEMENTWISE_CUH
#define CK_COALESCING_ELEMENTWISE_CUH

#include "../grid.cuh"

namespace coalescing {

// idle: 0 to 31 is a lane, 32 is none of them.
template <typename T>
__global__ void __launch_bounds__(1024) elementwise(const T *__restrict__ x, T *__restrict__ result, int64_t count,
                                                    int64_t offset, int64_t stride, int idle) {
    const int64_t i = grid_thread();
    if (i >= count) return;
    T value = {};
    if (i % 32 != idle) value = x[offset + stride * i];
    result[i] = value;
}

} // namespace coalescing

#endif

// coalescing "elementwise": the only kernel of this ladder.
//
// Idea    Thread i reads element offset + stride * i and writes element i: NumPy's x[offset::stride]. The 32 loads of
//         a warp are one request, and memory moves whole sectors of 32 bytes, so the cost depends on the number of
//         sectors that the 32 addresses touch. The lane `idle` of each warp reads nothing.
// Claim   sectors per request of 4-byte loads: 4 with stride 1 if the offset is a multiple of 8, otherwise 5; 4 *
//         stride up to stride 8, and 32 beyond. An idle lane changes none of these numbers.
// Price   bandwidth for the elements of the sectors that are not used
// Edges   The last block has threads past the end of the result: they do nothing.
// Map     element i: thread i of the grid, which is lane i % 32 if the block size is a multiple of 32
// Limit   one load in flight per thread: the operation "latency" has several
#ifndef CK_COALESCING_ELEMENTWISE_CUH
#define CK_COALESCING_ELEMENTWISE_CUH

#include "../grid.cuh"

namespace coalescing {

// idle: a lane, 0 to 31, or 32 for no lane.
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

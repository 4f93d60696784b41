// sum_of_squares "cooperative": comes after "atomic".
//
// Change  All blocks wait for each other; then block 0 adds their sums, in a fixed order.
// Why     One launch, no work for the host, and the same bits in every run.
// Claim   launches: 1; atomic additions: 0
// Price   a barrier across the whole grid. All blocks must be resident at once, so the chip limits their number.
// Edges   as in "vectorized"; any number of blocks that the chip can hold
// Map     thread t of block 0 adds the sums of the blocks t, t + threads, ...
// Limit   All blocks wait for the slowest one, and only then is the first sum read: see "one_launch".
#ifndef CK_SUM_OF_SQUARES_COOPERATIVE_CUH
#define CK_SUM_OF_SQUARES_COOPERATIVE_CUH

#include <cooperative_groups.h>

#include "11_vectorized.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    cooperative(const In *__restrict__ x, int64_t n, Acc *block_sums, Acc *__restrict__ result) {
    const Acc mine = block_sum(packed_sum<Acc>(x, n));
    if (threadIdx.x == 0) block_sums[blockIdx.x] = mine;
    cooperative_groups::this_grid().sync(); // also a barrier of this block, so block_sum may be used again
    if (blockIdx.x != 0) return;
    Acc sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += block_sums[b];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *result = sum;
}

} // namespace sum_of_squares

#endif

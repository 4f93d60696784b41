// sum_of_squares "tree_interleaved": comes after "shared_serial".
//
// Change  A tree: in each round every second survivor adds its neighbour, at distance 1, 2, 4, ...
// Why     log2(threads) rounds instead of threads - 1 additions in a row.
// Claim   additions on the longest path in a block: 8 for 256 threads (before: 255)
// Price   a barrier a round
// Edges   a neighbour beyond the block is skipped, so any number of threads is right (the lab sheet's guard; the
//         tutorial's code needs a power of two)
// Map     round r: thread t with t % 2^(r+1) == 0 adds sums[t + 2^r]
// Limit   the working threads are spread thin: a warp stays busy for 1 lane in 2, 4, 8, ...: "tree_sequential".
//         (The documents blame bank conflicts too. There are none: thread t works on element t, so lanes of a warp
//         never share a bank, beyond what 8 bytes need: of 8-byte sums lanes t and t+16 do, and take two wavefronts
//         in every form. A form that numbers the working threads afresh, sums[2*offset*t], has conflicts.)
#ifndef CK_SUM_TREE_INTERLEAVED_CUH
#define CK_SUM_TREE_INTERLEAVED_CUH

#include "multi_block.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    tree_interleaved(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    DYNAMIC_SHARED(Acc, sums);
    const int tid = threadIdx.x, threads = blockDim.x;
    note_start(clocks);
    sums[tid] = thread_sum<Acc>(x, n);
    __syncthreads();
    int mask = 1; // the bits that a survivor's number has clear: 1, 11, 111, ...
    for (int offset = 1; offset < threads; offset *= 2) {
        if ((tid & mask) == 0 && tid + offset < threads) sums[tid] += sums[tid + offset];
        mask = 2 * mask + 1;
        __syncthreads(); // the next round reads this one's sums
    }
    if (tid == 0) partials[blockIdx.x] = sums[0];
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

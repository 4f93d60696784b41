// sum_of_squares "tree_interleaved": comes after "shared_serial".
//
// Change  A tree: in each round, every second remaining thread adds the sum of its neighbor, at distance 1, 2, 4, ...
// Why     log2(threads) rounds instead of threads - 1 additions in a row
// Claim   additions on the longest path in a block: 8 for 256 threads (before: 255)
// Price   one barrier per round
// Edges   A neighbor outside the block is skipped, so the number of threads need not be a power of two.
// Map     round r: thread t with t % 2^(r+1) == 0 adds sums[t + 2^r]
// Limit   The active threads are far apart: a warp stays busy for 1 lane in 2, 4, 8, ...: see "tree_sequential".
//         There are no bank conflicts here, although they are often blamed: thread t works on element t, so no two
//         lanes of a warp share a bank, except that 8-byte sums take two wavefronts in any order. A version that
//         renumbers the active threads, sums[2*offset*t], does have conflicts.
#ifndef CK_SUM_OF_SQUARES_TREE_INTERLEAVED_CUH
#define CK_SUM_OF_SQUARES_TREE_INTERLEAVED_CUH

#include "05_multi_block.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    tree_interleaved(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    DYNAMIC_SHARED(Acc, sums);
    const int tid = threadIdx.x, threads = blockDim.x;
    note_start(clocks);
    sums[tid] = thread_sum<Acc>(x, n);
    __syncthreads();
    int mask = 1; // the bits that are 0 in the index of an active thread: 1, 11, 111, ...
    for (int offset = 1; offset < threads; offset *= 2) {
        if ((tid & mask) == 0 && tid + offset < threads) sums[tid] += sums[tid + offset];
        mask = 2 * mask + 1;
        __syncthreads(); // the next round reads the sums of this one
    }
    if (tid == 0) partials[blockIdx.x] = sums[0];
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

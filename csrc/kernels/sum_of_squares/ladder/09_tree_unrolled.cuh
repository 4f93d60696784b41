// sum_of_squares "tree_unrolled": comes after "tree_sequential".
//
// Change  The tree is unrolled for 256 threads.
// Why     There is no loop control, and once a single warp is left, a barrier among its own lanes is enough.
// Claim   block barriers in the tree: 3 (before: 9)
// Price   The number of threads must be 256.
// Map     as in "tree_sequential"
// Note    Old code often has no barrier at all within a warp. That was never guaranteed to work, and it is wrong
//         since lanes can run independently (Volta): __syncwarp is the guarantee.
// Limit   Sums still go through shared memory: see "warp_shuffle".
#ifndef CK_SUM_OF_SQUARES_TREE_UNROLLED_CUH
#define CK_SUM_OF_SQUARES_TREE_UNROLLED_CUH

#include "05_multi_block.cuh"

namespace sum_of_squares {

enum { UNROLLED_THREADS = 256 };

template <typename In, typename Acc>
__global__ void __launch_bounds__(UNROLLED_THREADS)
    tree_unrolled(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    __shared__ Acc sums[UNROLLED_THREADS];
    const int tid = threadIdx.x;
    note_start(clocks);
    sums[tid] = thread_sum<Acc>(x, n);
    __syncthreads();
    if (tid < 128) sums[tid] += sums[tid + 128];
    __syncthreads();
    if (tid < 64) sums[tid] += sums[tid + 64];
    __syncthreads();
    if (tid < 32) {
        sums[tid] += sums[tid + 32];
        __syncwarp();
        if (tid < 16) sums[tid] += sums[tid + 16];
        __syncwarp();
        if (tid < 8) sums[tid] += sums[tid + 8];
        __syncwarp();
        if (tid < 4) sums[tid] += sums[tid + 4];
        __syncwarp();
        if (tid < 2) sums[tid] += sums[tid + 2];
        __syncwarp();
        if (tid < 1) partials[blockIdx.x] = sums[0] + sums[1];
    }
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

// sum_of_squares "tree_unrolled": comes after "tree_sequential".
//
// Change  The tree is written out for 256 threads.
// Why     No loop control; and once one warp is left, it needs a barrier among its own lanes only.
// Claim   block barriers in the tree: 3 (before: 9)
// Price   256 threads and no other number
// Map     as "tree_sequential"
// Note    the documents keep a block barrier after each line; later ones drop it inside a warp altogether, which was
//         never promised and is wrong since lanes can run apart (Volta): __syncwarp is the promise
// Limit   sums still travel through shared memory: "warp_shuffle"
#ifndef CK_SUM_TREE_UNROLLED_CUH
#define CK_SUM_TREE_UNROLLED_CUH

#include "multi_block.cuh"

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

// sum_of_squares "warp_shuffle": comes after "tree_unrolled".
//
// Change  The lanes of a warp exchange their sums directly between registers. Shared memory holds only one sum per
//         warp.
// Why     A shuffle is one instruction; shared memory needs a store, a barrier and a load.
// Claim   block barriers: 1 (before: 3); words of shared memory: 32 (before: 256)
// Edges   any number of threads: the mask of the last warp has only the lanes that exist, and no other lane is read
// Map     lane l adds the sums of lanes l + 16, l + 8, ..., l + 1; then the first warp adds the sums of the warps
//         alike
// Limit   4 bytes per load, and 32 blocks on a chip with room for more: see "vectorized"
#ifndef CK_SUM_OF_SQUARES_WARP_SHUFFLE_CUH
#define CK_SUM_OF_SQUARES_WARP_SHUFFLE_CUH

#include "05_multi_block.cuh"

namespace sum_of_squares {

enum { WARP = 32 };

// The sum over the first `lanes` lanes of a warp, in lane 0. All of these lanes must call it together.
template <typename Acc> __device__ __forceinline__ Acc warp_sum(Acc sum, int lane, int lanes) {
    const unsigned mask = lanes >= WARP ? 0xffffffffu : (1u << lanes) - 1;
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const bool there = lane + offset < lanes;
        const Acc other = __shfl_sync(mask, sum, there ? lane + offset : lane);
        if (there) sum += other;
    }
    return sum;
}

// The sum over a block, in thread 0. All threads must call it together, with a barrier between two calls.
template <typename Acc> __device__ __forceinline__ Acc block_sum(Acc sum) {
    __shared__ Acc warp_sums[WARP]; // a block has at most 32 warps
    const int tid = threadIdx.x, threads = blockDim.x;
    const int lane = tid % WARP, warp = tid / WARP, warps = (threads + WARP - 1) / WARP;
    sum = warp_sum(sum, lane, threads - warp * WARP);
    if (lane == 0) warp_sums[warp] = sum;
    __syncthreads();
    if (warp == 0) sum = warp_sum(lane < warps ? warp_sums[lane] : Acc(0), lane, threads);
    return sum;
}

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    warp_shuffle(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials) {
    const Acc total = block_sum(thread_sum<Acc>(x, n));
    if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

} // namespace sum_of_squares

#endif

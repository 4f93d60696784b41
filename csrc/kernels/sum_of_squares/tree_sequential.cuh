// sum_of_squares "tree_sequential": comes after "tree_interleaved".
//
// Change  The lower half adds the upper half; then the lower quarter the second quarter; and so on.
// Why     Working threads stay side by side, so whole warps drop out.
// Claim   warps at work in the rounds of 256 threads: 4, 2, 1, 1, 1, 1, 1, 1, together 12 (before: 8, 8, 8, 8, 8, 4, 2,
//         1, together 47)
// Price   none
// Edges   the half is rounded up, and with an odd count the middle sum waits a round: any number of threads is right
// Map     round: thread t < active - half adds sums[t + half], half = ceil(active / 2)
// Limit   loop control and barriers for a tree whose shape never changes: "tree_unrolled"
#ifndef CK_SUM_TREE_SEQUENTIAL_CUH
#define CK_SUM_TREE_SEQUENTIAL_CUH

#include "multi_block.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    tree_sequential(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    DYNAMIC_SHARED(Acc, sums);
    const int tid = threadIdx.x;
    note_start(clocks);
    sums[tid] = thread_sum<Acc>(x, n);
    __syncthreads();
    int half;
    for (int active = blockDim.x; active > 1; active = half) {
        half = (active + 1) / 2;
        if (tid < active - half) sums[tid] += sums[tid + half];
        __syncthreads();
    }
    if (tid == 0) partials[blockIdx.x] = sums[0];
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

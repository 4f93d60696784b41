// sum_of_squares "tree_sequential": comes after "tree_interleaved".
//
// Change  The lower half of the threads adds the sums of the upper half; then the lower quarter adds those of the
//         second quarter; and so on.
// Why     The active threads are consecutive, so whole warps become idle.
// Claim   active warps in the rounds of 256 threads: 4, 2, 1, 1, 1, 1, 1, 1, in total 12 (before: 8, 8, 8, 8, 8, 4,
//         2, 1, in total 47)
// Price   none
// Edges   Half of an odd number is rounded up, and the middle sum then waits one round: any number of threads works.
// Map     round: thread t < active - half adds sums[t + half], half = ceil(active / 2)
// Limit   loop control and barriers, for a tree whose shape never changes: see "tree_unrolled"
#ifndef CK_SUM_OF_SQUARES_TREE_SEQUENTIAL_CUH
#define CK_SUM_OF_SQUARES_TREE_SEQUENTIAL_CUH

#include "05_multi_block.cuh"

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

// sum_of_squares "multi_block": comes after "coalesced".
//
// Change  Many blocks; the stride is the number of threads in the grid.
// Why     The blocks are distributed over the multiprocessors, and each has its own loads in flight.
// Claim   multiprocessors at work: as many as there are blocks (before: 1)
// Price   blocks * threads partial sums to write, to copy and to add on the host
// Edges   Threads past the end have nothing to add and store 0.
// Map     i = blockIdx.x * threads + threadIdx.x, then steps of blocks * threads
// Clock   Each block records its start and end. The time of the grid is the last end minus the first start, on the
//         timer that all multiprocessors share.
// Limit   8192 partial sums are too many to return: "shared_serial" returns one per block.
#ifndef CK_SUM_OF_SQUARES_MULTI_BLOCK_CUH
#define CK_SUM_OF_SQUARES_MULTI_BLOCK_CUH

#include "../parts/square.cuh"

namespace sum_of_squares {

// One thread's share, in a grid-stride loop. The following steps start with it too.
template <typename Acc, typename In> __device__ __forceinline__ Acc thread_sum(const In *__restrict__ x, int64_t n) {
    Acc sum = 0;
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) sum += square<Acc>(x[i]);
    return sum;
}

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    multi_block(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    note_start(clocks);
    partials[grid_thread()] = thread_sum<Acc>(x, n);
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

// sum_of_squares "shared_serial": comes after "multi_block".
//
// Change  The threads of a block store their sums in shared memory, and thread 0 adds them.
// Why     One partial sum per block is returned instead of one per thread: 32 instead of 8192.
// Claim   partial sums written: blocks (before: blocks * threads)
// Price   one barrier and one word of shared memory per thread; then threads - 1 additions in a row, while all other
//         threads wait
// Edges   any number of threads
// Map     as in "multi_block"; sums[t] belongs to thread t
// Note    The running sum stays in a register and is stored once: the lesson of "chunked_global".
// Limit   the additions of thread 0: in "tree_interleaved", half of the threads add at once, then a quarter, ...
#ifndef CK_SUM_OF_SQUARES_SHARED_SERIAL_CUH
#define CK_SUM_OF_SQUARES_SHARED_SERIAL_CUH

#include "05_multi_block.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    shared_serial(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    DYNAMIC_SHARED(Acc, sums);
    const int tid = threadIdx.x, threads = blockDim.x;
    note_start(clocks);
    sums[tid] = thread_sum<Acc>(x, n);
    __syncthreads(); // thread 0 reads what all the others wrote
    if (tid == 0) {
        Acc total = sums[0];
        for (int i = 1; i < threads; ++i) total += sums[i];
        partials[blockIdx.x] = total;
    }
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

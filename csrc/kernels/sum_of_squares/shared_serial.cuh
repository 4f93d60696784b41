// sum_of_squares "shared_serial": comes after "multi_block".
//
// Change  The threads of a block put their sums into shared memory, and thread 0 adds them.
// Why     One partial sum a block goes back instead of one a thread: 32 instead of 8192.
// Claim   partial sums written: blocks (before: blocks * threads)
// Price   one barrier, threads words of shared memory; then threads - 1 additions in a row while all others wait
// Edges   any number of threads
// Map     as "multi_block"; sums[t] belongs to thread t
// Note    the documents add into shared memory all along; here the running sum stays in a register and is stored
//         once, the lesson of "chunked_global"
// Limit   the additions of thread 0: "tree_interleaved" lets half the threads, then a quarter, ... add at once
#ifndef CK_SUM_SHARED_SERIAL_CUH
#define CK_SUM_SHARED_SERIAL_CUH

#include "multi_block.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    shared_serial(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    DYNAMIC_SHARED(Acc, sums);
    const int tid = threadIdx.x, threads = blockDim.x;
    note_start(clocks);
    sums[tid] = thread_sum<Acc>(x, n);
    __syncthreads(); // thread 0 reads what all others wrote
    if (tid == 0) {
        Acc total = sums[0];
        for (int i = 1; i < threads; ++i) total += sums[i];
        partials[blockIdx.x] = total;
    }
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

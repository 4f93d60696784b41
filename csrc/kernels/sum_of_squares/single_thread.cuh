// sum_of_squares "single_thread": a ladder begins here.
//
// Change  Nothing yet: the loop of a CPU program, run by one thread of one block.
// Why     To see what a single thread gets. Each load waits for memory, some hundreds of cycles, and the chip has
//         nothing else to do meanwhile.
// Claim   one load in flight, whatever the chip could take
// Edges   n = 0 gives 0
// Limit   latency with nothing to hide it: "chunked" brings 256 threads
#ifndef CK_SUM_SINGLE_THREAD_CUH
#define CK_SUM_SINGLE_THREAD_CUH

#include "square.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1)
    single_thread(const In *__restrict__ x, int64_t n, Acc *__restrict__ result, ck_clock *__restrict__ clocks) {
    note_start(clocks);
    Acc sum = 0;
#pragma unroll 1 // one load at a time, as the documents' loop has it: unrolled, several would be on their way
    for (int64_t i = 0; i < n; ++i) sum += square<Acc>(x[i]);
    *result = sum;
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

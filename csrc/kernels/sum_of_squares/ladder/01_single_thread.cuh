// sum_of_squares "single_thread": the first kernel of a ladder.
//
// Change  none yet: the loop of a CPU program, run by one thread of one block
// Why     It shows what a single thread can do. Each load takes hundreds of cycles, and the chip has nothing else to
//         do in the meantime.
// Claim   loads in flight: 1
// Edges   n = 0 gives 0
// Limit   Nothing hides the latency: "chunked" has 256 threads.
#ifndef CK_SUM_OF_SQUARES_SINGLE_THREAD_CUH
#define CK_SUM_OF_SQUARES_SINGLE_THREAD_CUH

#include "../parts/square.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1)
    single_thread(const In *__restrict__ x, int64_t n, Acc *__restrict__ result, ck_clock *__restrict__ clocks) {
    note_start(clocks);
    Acc sum = 0;
#pragma unroll 1 // one load at a time; if the loop were unrolled, several would be in flight
    for (int64_t i = 0; i < n; ++i) sum += square<Acc>(x[i]);
    *result = sum;
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

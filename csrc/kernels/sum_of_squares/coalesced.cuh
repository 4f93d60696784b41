// sum_of_squares "coalesced": comes after "chunked".
//
// Change  Neighbouring threads read neighbouring elements; a thread's next element is `threads` further on.
// Why     The 32 lanes of a warp read one contiguous piece at the same moment, so the hardware joins their loads into
//         as few transactions as the bytes need. On a chip with an L1 the gain is smaller than in the documents: there
//         "chunked" too uses all of a sector in the end, one load after the other.
// Claim   32-byte sectors a warp's load of 4-byte elements: 4 (before: 32)
// Price   none
// Edges   the last round is short: threads past the end leave the loop
// Map     thread t: x[t], x[t + threads], x[t + 2 * threads], ...
// Limit   one block uses one multiprocessor of many: "multi_block"
#ifndef CK_SUM_COALESCED_CUH
#define CK_SUM_COALESCED_CUH

#include "square.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    coalesced(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    note_start(clocks);
    const int64_t threads = blockDim.x, rounds = (n - threadIdx.x + threads - 1) / threads;
    Acc sum = 0;
#pragma unroll 4 // four loads on their way at once, as in "chunked": only the order of access shall differ
    for (int64_t round = 0; round < rounds; ++round) sum += square<Acc>(x[round * threads + threadIdx.x]);
    partials[threadIdx.x] = sum;
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

// sum_of_squares "coalesced": comes after "chunked".
//
// Change  Neighboring threads read neighboring elements. The next element of a thread is `threads` elements further
//         on.
// Why     The 32 lanes of a warp read one contiguous piece at the same moment, so the hardware combines their loads
//         into as few transactions as the bytes need. On a chip with an L1 cache the gain is smaller than on one
//         without, because there "chunked" also uses all of a sector in the end, one load after another.
// Claim   32-byte sectors per load of a warp, for 4-byte elements: 4 (before: 32)
// Price   none
// Edges   The last round is incomplete: threads past the end leave the loop.
// Map     thread t: x[t], x[t + threads], x[t + 2 * threads], ...
// Limit   One block uses only one of many multiprocessors: see "multi_block".
#ifndef CK_SUM_OF_SQUARES_COALESCED_CUH
#define CK_SUM_OF_SQUARES_COALESCED_CUH

#include "../parts/square.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    coalesced(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    note_start(clocks);
    const int64_t threads = blockDim.x, rounds = (n - threadIdx.x + threads - 1) / threads;
    Acc sum = 0;
#pragma unroll 4 // four loads in flight at once, as in "chunked": only the order of access differs
    for (int64_t round = 0; round < rounds; ++round) sum += square<Acc>(x[round * threads + threadIdx.x]);
    partials[threadIdx.x] = sum;
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

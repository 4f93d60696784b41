// sum_of_squares "chunked": comes after "single_thread".
//
// Change  One block of many threads. Each thread adds a contiguous chunk.
// Why     While one warp waits for memory, the multiprocessor runs another one: many warps hide the latency.
// Claim   loads in flight: four per thread, 1024 for 256 threads (before: 1)
// Price   one partial sum per thread, which the host adds
// Edges   The chunk length is n / threads, rounded up. The last chunks may be short or empty.
// Map     thread t: x[t * chunk] to x[(t + 1) * chunk - 1]
// Limit   The lanes of a warp read addresses that are a chunk apart, so each of the 32 loads is a memory transaction
//         of its own, of which only one element is used: see "coalesced". (Today's chips keep the sector in the L1
//         cache, where the thread's next loads hit it, so less is lost than on chips without such a cache.)
#ifndef CK_SUM_OF_SQUARES_CHUNKED_CUH
#define CK_SUM_OF_SQUARES_CHUNKED_CUH

#include "../parts/square.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    chunked(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    note_start(clocks);
    const int64_t chunk = (n + blockDim.x - 1) / blockDim.x;
    const int64_t begin = threadIdx.x * chunk;
    const int64_t end = begin + chunk < n ? begin + chunk : n;
    Acc sum = 0;
#pragma unroll 4 // four loads in flight at once
    for (int64_t i = begin; i < end; ++i) sum += square<Acc>(x[i]);
    partials[threadIdx.x] = sum;
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

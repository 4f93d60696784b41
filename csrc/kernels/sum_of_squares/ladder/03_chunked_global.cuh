// sum_of_squares "chunked_global": comes after "single_thread", and does the same work as "chunked".
//
// Change  The running sum is in global memory, not in a register.
// Why     It shows what a register saves: here each element costs a load and a store of the sum as well, and the next
//         addition waits for them.
// Claim   accesses to global memory per element: 3 (in "chunked": 1)
// Price   time; nothing is gained
// Edges   as in "chunked"
// Map     as in "chunked"
// Note    `volatile` forces the accesses. Without it, a compiler that can prove that the sum and the input do not
//         overlap keeps the sum in a register.
#ifndef CK_SUM_OF_SQUARES_CHUNKED_GLOBAL_CUH
#define CK_SUM_OF_SQUARES_CHUNKED_GLOBAL_CUH

#include "../parts/square.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024)
    chunked_global(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials, ck_clock *__restrict__ clocks) {
    note_start(clocks);
    const int64_t chunk = (n + blockDim.x - 1) / blockDim.x;
    const int64_t begin = threadIdx.x * chunk;
    const int64_t end = begin + chunk < n ? begin + chunk : n;
    volatile Acc *const sum = partials + threadIdx.x;
    *sum = 0;
    for (int64_t i = begin; i < end; ++i) *sum = *sum + square<Acc>(x[i]);
    note_end(clocks);
}

} // namespace sum_of_squares

#endif

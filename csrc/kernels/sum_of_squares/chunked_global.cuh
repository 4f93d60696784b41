// sum_of_squares "chunked_global": beside "chunked", whose work it does.
//
// Change  The running sum lives in global memory, not in a register, as the lab sheet first writes it.
// Why     To see what it costs: for each element a load and a store of the sum, and the next addition waits for them.
// Claim   three accesses to global memory an element instead of one
// Price   time; nothing is gained
// Edges   as "chunked"
// Map     as "chunked"
// Limit   `volatile` forces what the lab's code only invites: where the compiler can prove that sum and input never
//         overlap, it keeps the sum in a register by itself, and there is nothing to see
#ifndef CK_SUM_CHUNKED_GLOBAL_CUH
#define CK_SUM_CHUNKED_GLOBAL_CUH

#include "square.cuh"

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

// sum_of_squares "atomic": comes after "vectorized".
//
// Change  Each block adds its sum to the result itself, with one atomic addition.
// Why     No partial sums to write, copy and add: the result is ready when the grid is.
// Claim   atomic additions: one a block; partial sums handed back: 0
// Price   the result must be zero beforehand (the plan asks for it); the blocks' additions queue up at one address,
//         and their order is not fixed: float results may differ in the last bits from run to run, integers cannot
// Edges   as "vectorized"; and a GPU's atomic addition to float32 in global memory takes numbers below the normal
//         range for zero (PTX manual, atom.add.f32)
// Limit   where the same bits are wanted every time: "cooperative"
#ifndef CK_SUM_ATOMIC_CUH
#define CK_SUM_ATOMIC_CUH

#include "vectorized.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024) atomic(const In *__restrict__ x, int64_t n, Acc *__restrict__ result) {
    const Acc total = block_sum(packed_sum<Acc>(x, n));
    if (threadIdx.x == 0) atomicAdd(result, total);
}

} // namespace sum_of_squares

#endif

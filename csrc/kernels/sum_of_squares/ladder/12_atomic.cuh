// sum_of_squares "atomic": comes after "vectorized".
//
// Change  Each block adds its sum to the result itself, with one atomic addition.
// Why     There are no partial sums to write, copy and add: when the grid has finished, so has the result.
// Claim   atomic additions: one per block; partial sums returned to the host: 0
// Price   The result must be zero beforehand (the plan asks for it). The additions of the blocks are serialized at
//         one address, and their order is not fixed: the last bits of a float result may differ from run to run.
//         Integer results are always the same.
// Edges   As in "vectorized". On a GPU, an atomic addition to float32 in global memory flushes denormal numbers to
//         zero (PTX manual, atom.add.f32).
// Limit   For the same bits in every run, see "cooperative".
#ifndef CK_SUM_OF_SQUARES_ATOMIC_CUH
#define CK_SUM_OF_SQUARES_ATOMIC_CUH

#include "11_vectorized.cuh"

namespace sum_of_squares {

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024) atomic(const In *__restrict__ x, int64_t n, Acc *__restrict__ result) {
    const Acc total = block_sum(packed_sum<Acc>(x, n));
    if (threadIdx.x == 0) atomicAdd(result, total);
}

} // namespace sum_of_squares

#endif

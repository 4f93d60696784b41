// The check of "split_fp16": whether two pieces in fp16 are good enough for the data of this call.
#ifndef CK_MATMUL_SPLIT_CHOOSE_CUH
#define CK_MATMUL_SPLIT_CHOOSE_CUH

#include "device_extras.cuh"
#include "split_operands.cuh"

namespace matmul {

enum { CHOOSE_THREADS = 1024 };

// Decides between fp16 and bf16. One block for each product.
//
// Consider the nonzero elements of a row of A: `lossy` of them have an error of up to 2^-25, `small` are less than 1,
// and `good` are 1 or more. In a column of B, let M be the largest magnitude, and let the sum of magnitudes be at least
// N M. Then the errors of the row add at most lossy 2^-25 M to an element of C. If no element of the row is zero, the
// elements of the column that are multiplied by good ones have a sum of magnitudes of at least (N - small) M, so |A||B|
// is at least that. (In a row with zeros, the good elements are assumed to meet their share of the column. That is no
// proof, because zeros of A and B may avoid each other: such a row may have one lossy element for 256 good ones.) The
// error is less than 2^-23 |A||B| if lossy <= 4 (N good / k - small). The same applies to the columns of B.
__global__ void __launch_bounds__(CHOOSE_THREADS) split_choose(const split_operands op) {
    wait_for_grid_before();
    let_next_grid_begin();
    __shared__ unsigned least[2];
    __shared__ int lossy;
    const int product = static_cast<int>(blockIdx.z);
    if (op.choice[product] != SPLIT_OPEN) return;
    const split_side sides[2] = {side_of(op, 0, product), side_of(op, 1, product)};
    if (threadIdx.x < 2) least[threadIdx.x] = 0xffffffffu, lossy = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        unsigned own = 0xffffffffu; // of lines that are not zero
#pragma unroll 8
        for (int line = threadIdx.x; line < sides[i].lines; line += CHOOSE_THREADS) {
            const unsigned mass = sides[i].mass[line];
            if (mass != 0 && mass < own) own = mass;
        }
        atomicMin(&least[i], own);
    }
    __syncthreads();
    bool fails = false;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const split_side &side = sides[i];
        const float share =
            static_cast<float>(least[1 - i]) / 128 / static_cast<float>(op.k); // N / k: M < 2^15 = 128 * 2^8
#pragma unroll 4
        for (int line = threadIdx.x; line < side.lines; line += CHOOSE_THREADS) {
            const float count = static_cast<float>(side.lossy[line]);
            const float good = static_cast<float>(side.good[line]), small = static_cast<float>(side.small[line]);
            const bool zeros = good + small < static_cast<float>(op.k);
            fails = fails || (count > 0 && (count > 4 * (share * good - small) || (zeros && count * 256 > good)));
        }
    }
    if (fails) atomicOr(&lossy, 1);
    __syncthreads();
    if (threadIdx.x == 0) op.choice[product] = lossy ? SPLIT_IN_BF16 : SPLIT_IN_FP16;
}

} // namespace matmul

#endif

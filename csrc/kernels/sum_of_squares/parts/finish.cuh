// The last step for results that stay on the device: one block adds the partial sums.
//
// Arrays in host memory need no such kernel: their partial sums are copied back, and the host adds them.
#ifndef CK_SUM_OF_SQUARES_FINISH_CUH
#define CK_SUM_OF_SQUARES_FINISH_CUH

#include "../ladder/10_warp_shuffle.cuh"

namespace sum_of_squares {

enum { FINISH_THREADS = 256 };

template <typename Acc>
__global__ void __launch_bounds__(FINISH_THREADS)
    finish(const Acc *__restrict__ partials, int64_t count, Acc *__restrict__ result) {
    Acc sum = 0;
    for (int64_t i = threadIdx.x; i < count; i += FINISH_THREADS) sum += partials[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *result = sum;
}

} // namespace sum_of_squares

#endif

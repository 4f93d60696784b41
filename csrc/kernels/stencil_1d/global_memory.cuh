// stencil_1d "global_memory": the first kernel of the ladder.
//
// Idea    One thread per element: it adds the 2*radius + 1 elements around its own, from global memory.
// Claim   words that threads read from global memory: 2*radius + 1 per element, from left to right
// Price   Each element is read by 2*radius + 1 threads. The cache saves most of the memory traffic.
// Edges   Elements outside the array count as 0: the loop ends at the edges. Threads beyond the array do nothing.
// Map     i = blockIdx.x * blockDim.x + threadIdx.x; it reads from i - radius to i + radius
// Limit   the path to the cache: neighboring threads request the same words again and again: see "shared_halo"
#ifndef CK_STENCIL_1D_GLOBAL_MEMORY_CUH
#define CK_STENCIL_1D_GLOBAL_MEMORY_CUH

#include "../element.cuh"
#include "../grid.cuh"
#include "../numbers.cuh"

namespace stencil_1d {

template <typename T>
__global__ void __launch_bounds__(1024)
    global_memory(const T *__restrict__ x, T *__restrict__ result, int64_t n, int radius) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    const int64_t first = i < radius ? 0 : i - radius, last = i + radius < n ? i + radius : n - 1;
    number<T> sum = 0;
    for (int64_t k = first; k <= last; ++k) sum += number_cast<number<T>>(x[k]);
    result[i] = number_cast<T>(sum);
}

} // namespace stencil_1d

#endif

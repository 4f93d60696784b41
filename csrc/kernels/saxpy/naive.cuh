// saxpy "naive": the first kernel of the ladder.
//
// Idea    One thread per element: a * x[i] + y[i]. Each thread also reads the factor a, all from the same address.
// Claim   words moved per element: 2 read and 1 written, each of them once; the factor comes from the cache
// Price   one load of the factor per thread, which the threads of a warp share
// Edges   The last block has threads beyond the array: `if (i < n)` keeps them out.
// Map     i = blockIdx.x * blockDim.x + threadIdx.x
// Limit   Two operations for three words: arithmetic is never the limit. A thread loads the factor for a single
//         element: see "grid_stride".
#ifndef CK_SAXPY_NAIVE_CUH
#define CK_SAXPY_NAIVE_CUH

#include "../element.cuh"
#include "../grid.cuh"
#include "../numbers.cuh"

namespace saxpy {

// Computed in number<T>: float for halves, "and" and "or" for bools, modulo the type's size for integers. The
// compiler may fuse product and sum (fma), which rounds only once and is more accurate.
template <typename T> __device__ __forceinline__ T axpy(number<T> a, T x, T y) {
    return number_cast<T>(a * number_cast<number<T>>(x) + number_cast<number<T>>(y));
}

template <typename T>
__global__ void __launch_bounds__(1024) naive(const T *__restrict__ a, const T *__restrict__ x,
                                              const T *__restrict__ y, T *__restrict__ result, int64_t n) {
    const int64_t i = grid_thread();
    if (i < n) result[i] = axpy(number_cast<number<T>>(*a), x[i], y[i]);
}

} // namespace saxpy

#endif

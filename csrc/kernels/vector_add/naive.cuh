// vector_add "naive": the first kernel of the ladder.
//
// Idea    One thread per element. The index of the thread in the grid is the index of the element.
// Claim   words moved per element: 2 read and 1 written, each of them once: no variant can move fewer
// Price   none: as many threads as elements, and each ends after one addition
// Edges   The last block has threads beyond the array: `if (i < n)` keeps them out.
// Map     i = blockIdx.x * blockDim.x + threadIdx.x
// Limit   A thread has two loads in flight and then waits, and starting it costs more than its single addition: see
//         "grid_stride".
#ifndef CK_VECTOR_ADD_NAIVE_CUH
#define CK_VECTOR_ADD_NAIVE_CUH

#include "../element.cuh"
#include "../grid.cuh"
#include "../numbers.cuh"

namespace vector_add {

// Computed in number<T>: float for halves, "or" for bools, modulo the type's size for integers.
template <typename T> __device__ __forceinline__ T add(T x, T y) {
    return number_cast<T>(number_cast<number<T>>(x) + number_cast<number<T>>(y));
}

template <typename T>
__global__ void __launch_bounds__(1024)
    naive(const T *__restrict__ x, const T *__restrict__ y, T *__restrict__ result, int64_t n) {
    const int64_t i = grid_thread();
    if (i < n) result[i] = add(x[i], y[i]);
}

} // namespace vector_add

#endif

// constant_memory "array": comes after "scalar".
//
// Change  The numbers are an array in __constant__ memory and are accessed by index.
// Why     If all lanes of a warp read the same word, it comes in one step, from a dedicated cache.
// Claim   addresses of constant memory per access of a warp: 1 with a uniform index; 32 with a divergent index and a
//         table of at least 32 numbers
// Price   Different words are read one after another. All __constant__ variables together have 64 KiB.
// Edges   Threads past the end of the array return at once. The table has 1 to 1024 numbers.
// Map     as in "literal"
// Limit   A divergent index takes as many steps as it has different addresses: see "global".
#ifndef CK_CONSTANT_MEMORY_ARRAY_CUH
#define CK_CONSTANT_MEMORY_ARRAY_CUH

#include "../grid.cuh"
#include "mix.cuh"

namespace constant_memory {

__constant__ uint32_t numbers[LONGEST];

struct indexed {
    __device__ __forceinline__ uint32_t operator()(int j) const { return numbers[j]; }
};

template <int INDEX>
__global__ void __launch_bounds__(1024)
    array(const uint32_t *__restrict__ x, uint32_t *__restrict__ y, int64_t n, int length) {
    const int64_t i = grid_thread();
    if (i < n) y[i] = mixed<INDEX>(x[i], i, length, indexed());
}

} // namespace constant_memory

#endif

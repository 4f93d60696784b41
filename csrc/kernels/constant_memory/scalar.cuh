// constant_memory "scalar": comes after "literal".
//
// Change  The numbers are named variables in __constant__ memory, which the host sets before the launch.
// Why     They can change from call to call, and an instruction can still use them directly as operands: a constant
//         that is in the cache costs an arithmetic instruction no extra time.
// Claim   words read from global memory per element: 1, and none of the table
// Price   a copy of 16 bytes before each launch
// Edges   Threads past the end of the array return at once. A table of any length other than four is an error.
// Map     as in "literal"
// Limit   Named variables have no index, and there are only four: see "array".
#ifndef CK_CONSTANT_MEMORY_SCALAR_CUH
#define CK_CONSTANT_MEMORY_SCALAR_CUH

#include "../grid.cuh"
#include "mix.cuh"

namespace constant_memory {

__constant__ struct four { uint32_t a, b, c, d; } scalars;

struct named {
    __device__ __forceinline__ uint32_t operator()(int j) const {
        return j == 0 ? scalars.a : j == 1 ? scalars.b : j == 2 ? scalars.c : scalars.d;
    }
};

template <int INDEX>
__global__ void __launch_bounds__(1024) scalar(const uint32_t *__restrict__ x, uint32_t *__restrict__ y, int64_t n) {
    const int64_t i = grid_thread();
    if (i < n) y[i] = mixed<INDEX>(x[i], i, LITERALS, named());
}

} // namespace constant_memory

#endif

// constant_memory "scalar": comes after "literal".
//
// Change  The numbers are variables in __constant__ memory, each with a name, set by the host before the launch.
// Why     They can change from call to call, and an instruction may still name one as its operand: a constant that
//         sits in the cache costs an arithmetic instruction nothing.
// Claim   words read from global memory: 1 an element, and none of the table
// Price   a copy of 16 bytes before each launch
// Edges   threads beyond the array leave at once; a table of any length but four is refused
// Map     as in "literal"
// Limit   variables with names cannot be counted through, and four are few: "array"
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

// constant_memory "array": comes after "scalar".
//
// Change  The numbers are an array in __constant__ memory, reached by an index.
// Why     A warp whose lanes ask for one and the same word gets it in one step, from a cache of its own.
// Claim   addresses of constant memory that a warp asks for at a time: 1 with a uniform index, 32 with a divergent one
//         and a table of at least 32
// Price   different words are read one after the other; 64 KiB for all __constant__ variables together
// Edges   threads beyond the array leave at once; 1 to 1024 numbers
// Map     as in "literal"
// Limit   a divergent index takes as many steps as it has addresses: "global"
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

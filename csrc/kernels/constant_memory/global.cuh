// constant_memory "global": comes after "array".
//
// Change  The numbers are an ordinary array in global memory.
// Why     The L1 cache of the multiprocessor holds the array too, and it delivers different words of one line to the
//         lanes of a warp in a single step. Constant memory does not.
// Claim   32-byte sectors per access of a warp: 1 with a uniform index; 4 or 5 with a divergent index and a table of
//         at least 32 numbers
// Price   Each number takes a load instruction, and the table shares the L1 cache with x and y.
// Edges   Threads past the end of the array return at once. The table has 1 to 1024 numbers.
// Map     as in "literal"
// Limit   the latency of one load per number
#ifndef CK_CONSTANT_MEMORY_GLOBAL_CUH
#define CK_CONSTANT_MEMORY_GLOBAL_CUH

#include "../grid.cuh"
#include "mix.cuh"

namespace constant_memory {

struct loaded {
    const uint32_t *table;
    __device__ __forceinline__ uint32_t operator()(int j) const { return table[j]; }
};

template <int INDEX>
__global__ void __launch_bounds__(1024) global(const uint32_t *__restrict__ x, const uint32_t *__restrict__ table,
                                               uint32_t *__restrict__ y, int64_t n, int length) {
    const int64_t i = grid_thread();
    if (i < n) y[i] = mixed<INDEX>(x[i], i, length, loaded{table});
}

} // namespace constant_memory

#endif

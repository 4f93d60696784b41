// constant_memory "global": comes after "array".
//
// Change  The numbers are an ordinary array in global memory.
// Why     Today's chips cache it near the multiprocessor, too, and a warp's lanes get different words of one line in
//         one step, which constant memory does not give them.
// Claim   32-byte sectors that a warp asks for at a time: 1 with a uniform index, 4 or 5 with a divergent one and a
//         table of at least 32
// Price   each number is a load by itself; it shares its cache with x and y
// Edges   threads beyond the array leave at once; 1 to 1024 numbers
// Map     as in "literal"
// Limit   the latency of a load for each number
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

// constant_memory "literal": the first kernel of the ladder.
//
// Idea    The numbers are in the source, and the compiler puts them into the instructions.
// Why     A value that is known at compile time need not be read at run time.
// Claim   words read from memory per element: 1, and none of the table
// Price   The numbers cannot change. An index that differs within a warp becomes a chain of selections.
// Edges   Threads past the end of the array return at once. The table that is passed to the call must contain exactly
//         these numbers.
// Map     i = blockIdx.x * blockDim.x + threadIdx.x
// Limit   Other numbers need another program: see "scalar".
#ifndef CK_CONSTANT_MEMORY_LITERAL_CUH
#define CK_CONSTANT_MEMORY_LITERAL_CUH

#include "../grid.cuh"
#include "mix.cuh"

namespace constant_memory {

// The numbers that the source document M uses (see docs/sources.md).
struct literals {
    __device__ __forceinline__ uint32_t operator()(int j) const {
        return j == 0 ? 0x55555555u : j == 1 ? 0x77777777u : j == 2 ? 0x33333333u : 0x11111111u;
    }
};

template <int INDEX>
__global__ void __launch_bounds__(1024) literal(const uint32_t *__restrict__ x, uint32_t *__restrict__ y, int64_t n) {
    const int64_t i = grid_thread();
    if (i < n) y[i] = mixed<INDEX>(x[i], i, LITERALS, literals());
}

} // namespace constant_memory

#endif

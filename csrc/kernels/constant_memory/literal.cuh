// constant_memory "literal": the ladder begins here.
//
// Idea    The numbers stand in the source: the compiler puts them into the instructions themselves.
// Why     What is known when the program is written need not be read when it runs.
// Claim   words read from memory: 1 an element, and none of the table
// Price   the numbers are these for ever; an index that differs over a warp is a chain of selections
// Edges   threads beyond the array leave at once; the table given with the call must hold these numbers
// Map     i = blockIdx.x * blockDim.x + threadIdx.x
// Limit   another set of numbers is another program: "scalar"
#ifndef CK_CONSTANT_MEMORY_LITERAL_CUH
#define CK_CONSTANT_MEMORY_LITERAL_CUH

#include "../grid.cuh"
#include "mix.cuh"

namespace constant_memory {

// M's numbers.
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

// constant_memory: the arithmetic that its variants share. Each variant reads the same numbers from a different
// memory.
//
// An element is combined with one number of the table after another: d = (d ^ number) * ODD, ROUNDS times. The
// compiler cannot simplify this chain (it can reduce a chain of only ^, | and & to four constants), and the result
// depends on the order of the numbers.
#ifndef CK_CONSTANT_MEMORY_MIX_CUH
#define CK_CONSTANT_MEMORY_MIX_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace constant_memory {

enum { ROUNDS = 64, LITERALS = 4, LONGEST = 1024 }; // table lengths: of "literal" and "scalar"; the maximum of others
enum index_word { UNIFORM, DIVERGENT };             // values of the parameter `index`

// number(j) is number j of the table. UNIFORM: all threads begin with number 0, so a warp reads one address at a
// time. DIVERGENT: element i begins with number i, so the lanes of a warp read up to 32 different addresses.
template <int INDEX, typename Number>
__device__ __forceinline__ uint32_t mixed(uint32_t d, int64_t i, int length, Number number) {
    int j = INDEX == UNIFORM ? 0 : static_cast<int>(i % length);
#pragma unroll 4
    for (int round = 0; round < ROUNDS; ++round) {
        d = (d ^ number(j)) * 0x9E3779B1u;
        j = j + 1 == length ? 0 : j + 1;
    }
    return d;
}

} // namespace constant_memory

#endif

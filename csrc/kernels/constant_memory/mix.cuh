// constant_memory: the arithmetic that its variants share. Each of them reads the same numbers from another place.
//
// An element is mixed with one number of the table after another: d = (d ^ number) * ODD, ROUNDS times. Nothing of it
// folds away (M's own chain of ^, |, & and | is four constants to a compiler), and the order of the numbers counts.
#ifndef CK_CONSTANT_MEMORY_MIX_CUH
#define CK_CONSTANT_MEMORY_MIX_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace constant_memory {

enum { ROUNDS = 64, LITERALS = 4, LONGEST = 1024 }; // the length of literal's and scalar's table; of the longest
enum index_word { UNIFORM, DIVERGENT };             // the parameter's words

// number(j) is the table's j-th. UNIFORM: all threads begin with number 0, so a warp asks for one address at a time.
// DIVERGENT: element i begins with number i, so that its lanes ask for up to 32 different ones.
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

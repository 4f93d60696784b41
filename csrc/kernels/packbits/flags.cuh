// Definitions that the variants of packbits share: the position of a flag in its word, and the store of a word.
//
// 32 flags make a word of 4 bytes, the first 8 of them its first byte. In a byte the first flag is the highest bit
// ("big") or the lowest ("little"): flag i is bit i of the word, or bit i ^ 7. So `flip` is 7 or 0.
#ifndef CK_PACKBITS_FLAGS_CUH
#define CK_PACKBITS_FLAGS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "../grid.cuh"

namespace packbits {

enum { FLAGS_PER_BYTE = 8, BYTES_PER_WORD = 4, FLAGS_PER_WORD = 32 };

// Bytes past the end of the result for n flags are not written.
__device__ __forceinline__ void store_word(uint8_t *result, int64_t which, uint32_t word, int64_t n) {
    uint8_t *const at = result + which * BYTES_PER_WORD;
    if ((which + 1) * FLAGS_PER_WORD <= n && reinterpret_cast<uintptr_t>(at) % BYTES_PER_WORD == 0) {
        *reinterpret_cast<uint32_t *>(at) = word;
        return;
    }
    for (int b = 0; b < BYTES_PER_WORD; ++b)
        if (which * FLAGS_PER_WORD + b * FLAGS_PER_BYTE < n) at[b] = static_cast<uint8_t>(word >> b * FLAGS_PER_BYTE);
}

} // namespace packbits

#endif

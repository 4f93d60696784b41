// packbits "global_memory": where the ladder begins.
//
// Idea    A thread packs 32 flags, one after the other, into their place in global memory.
// Claim   accesses to the result: 32 loads and 32 stores a word, and 4 stores that clear it
// Price   each of them waits for the one before it
// Edges   the last thread stops where the flags do; missing bits of the last byte are 0
// Map     thread w: flags 32 w to 32 w + 31, bytes 4 w to 4 w + 3
// Limit   the memory's answer, 64 times a word: "register"
//
// In the document every thread of the grid packs into the same word, which is a race: here each has a word of its own.
// `volatile` keeps the compiler from doing what the next step is about. Its loop `i < 31` leaves the last flag out.
#ifndef CK_PACKBITS_GLOBAL_MEMORY_CUH
#define CK_PACKBITS_GLOBAL_MEMORY_CUH

#include "flags.cuh"

namespace packbits {

template <typename T>
__global__ void __launch_bounds__(1024)
    global_memory(const T *__restrict__ x, uint8_t *__restrict__ result, int64_t n, int flip) {
    const int64_t first = grid_thread() * FLAGS_A_WORD;
    for (int i = 0; i < FLAGS_A_WORD && first + i < n; ++i) {
        volatile uint8_t *const byte = result + (first + i) / FLAGS_A_BYTE;
        if (i % FLAGS_A_BYTE == 0) *byte = 0;
        *byte = static_cast<uint8_t>(*byte | (x[first + i] != 0) << (i ^ flip) % FLAGS_A_BYTE);
    }
}

} // namespace packbits

#endif

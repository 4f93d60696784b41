// packbits "global_memory": the first kernel of the ladder.
//
// Idea    A thread packs 32 flags, one after another, directly in global memory.
// Claim   accesses to the result per word: 32 loads, 32 stores, and 4 stores that clear it
// Price   Each access waits for the previous one.
// Edges   The last thread stops at the end of the flags; the remaining bits of the last byte are 0.
// Map     thread w: flags 32 w to 32 w + 31, bytes 4 w to 4 w + 3
// Limit   the latency of memory, 64 times per word: see "register"
//
// Each thread has a word of its own: if all threads packed into the same word, that would be a race. `volatile` keeps
// the compiler from doing what the next step is about.
#ifndef CK_PACKBITS_GLOBAL_MEMORY_CUH
#define CK_PACKBITS_GLOBAL_MEMORY_CUH

#include "flags.cuh"

namespace packbits {

template <typename T>
__global__ void __launch_bounds__(1024)
    global_memory(const T *__restrict__ x, uint8_t *__restrict__ result, int64_t n, int flip) {
    const int64_t first = grid_thread() * FLAGS_PER_WORD;
    for (int i = 0; i < FLAGS_PER_WORD && first + i < n; ++i) {
        volatile uint8_t *const byte = result + (first + i) / FLAGS_PER_BYTE;
        if (i % FLAGS_PER_BYTE == 0) *byte = 0;
        *byte = static_cast<uint8_t>(*byte | (x[first + i] != 0) << (i ^ flip) % FLAGS_PER_BYTE);
    }
}

} // namespace packbits

#endif

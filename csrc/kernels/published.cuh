// Sums that one block publishes and others wait for, within one launch.
//
// A sum travels in 64-bit words: the upper half has 32 bits of the sum, the lower half a flag that they are there.
//
//     float            one word     [ bits | 1 ]
//     double, uint64   two words    [ low bits | 1 ] [ high bits | 1 ]
//
// A word is written and read in one piece, so a block that sees the flags of all words has the whole sum, in whatever
// order the words arrive: no fence is needed. Words must be 0 when the launch begins, and each is written once.
//
// A block waits only for blocks that have started (their numbers come from a counter), so the wait ends. It sleeps
// between two reads, so that other threads get their turn on a processor where threads take turns.
#ifndef CK_PUBLISHED_CUH
#define CK_PUBLISHED_CUH

#include <stdint.h>
#include <string.h>

#include <cuda_runtime.h>

namespace publishing {

using word = unsigned long long;

enum { PAUSE_NS = 32 };

template <typename Acc> struct published {
    static constexpr int WORDS = sizeof(Acc) / sizeof(uint32_t);
    word words[WORDS];

    __device__ __forceinline__ bool is_there() const {
        word marks = 1;
        for (int w = 0; w < WORDS; ++w) marks &= words[w];
        return marks != 0;
    }
};

template <typename Acc> __device__ __forceinline__ void publish(published<Acc> *to, Acc sum) {
    uint32_t parts[published<Acc>::WORDS];
    memcpy(parts, &sum, sizeof sum);
    for (int w = 0; w < published<Acc>::WORDS; ++w) atomicExch(&to->words[w], static_cast<word>(parts[w]) << 32 | 1);
}

// Reads once, without waiting, so that several reads can be in flight at once.
template <typename Acc> __device__ __forceinline__ published<Acc> look(const published<Acc> *at) {
    published<Acc> seen;
    for (int w = 0; w < published<Acc>::WORDS; ++w) seen.words[w] = *const_cast<const volatile word *>(&at->words[w]);
    return seen;
}

template <typename Acc> __device__ __forceinline__ Acc wait_for(const published<Acc> *at, published<Acc> seen) {
    while (!seen.is_there()) {
        __nanosleep(PAUSE_NS);
        seen = look(at);
    }
    uint32_t parts[published<Acc>::WORDS];
    for (int w = 0; w < published<Acc>::WORDS; ++w) parts[w] = static_cast<uint32_t>(seen.words[w] >> 32);
    Acc sum;
    memcpy(&sum, parts, sizeof sum);
    return sum;
}

// For the only reader of a sum, once it has it: the words are 0 again for the next launch.
template <typename Acc> __device__ __forceinline__ void unpublish(published<Acc> *at) {
    for (int w = 0; w < published<Acc>::WORDS; ++w) *const_cast<volatile word *>(&at->words[w]) = 0;
}

} // namespace publishing

#endif

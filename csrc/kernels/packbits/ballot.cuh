// packbits "ballot": comes after "unrolled".
//
// Change  Each lane reads one flag and the warp votes: the result of the vote is the word. After 32 votes each lane
//         has a word, and all words are stored together.
// Why     Neighboring lanes read neighboring flags, and one instruction packs 32 flags.
// Claim   requests for 1024 one-byte flags: 32, of one 32-byte sector each (before: 32, of 32 sectors each)
// Price   Every lane takes part in 32 votes and keeps one result.
// Edges   A lane beyond the array votes 0; words beyond the array are not stored.
// Map     a warp: 1024 flags; vote v, lane l: flag 32 v + (l ^ flip), so that the bits come in the requested order
// Limit   one byte per lane: 32 bytes per request instead of the 512 of "vectorized"
#ifndef CK_PACKBITS_BALLOT_CUH
#define CK_PACKBITS_BALLOT_CUH

#include "flags.cuh"

namespace packbits {

enum { WARP = 32, FLAGS_PER_WARP = WARP * FLAGS_PER_WORD };

template <typename T>
__global__ void __launch_bounds__(1024)
    ballot(const T *__restrict__ x, uint8_t *__restrict__ result, int64_t n, int flip) {
    const int lane = threadIdx.x % WARP;
    for (int64_t warp = grid_thread() / WARP; warp * FLAGS_PER_WARP < n; warp += grid_threads() / WARP) {
        const int64_t first = warp * FLAGS_PER_WARP + (lane ^ flip);
        uint32_t mine = 0;
#pragma unroll 4
        for (int v = 0; v < WARP; ++v) {
            const int64_t i = first + v * FLAGS_PER_WORD;
            const uint32_t word = __ballot_sync(0xffffffffu, i < n && x[i] != 0);
            if (lane == v) mine = word;
        }
        store_word(result, warp * WARP + lane, mine, n);
    }
}

} // namespace packbits

#endif

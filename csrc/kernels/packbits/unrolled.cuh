// packbits "unrolled": comes after "register".
//
// Change  The compiler unrolls the loop over a whole word.
// Why     There is no counter, no comparison and no jump; addresses are one base plus 32 constant offsets; and all 32
//         loads can be in flight at once instead of one.
// Claim   jumps per word: none (before: 32)
// Price   code: 32 copies of the loop body
// Edges   An incomplete last word is packed by the loop.
// Map     thread w: flags 32 w to 32 w + 31, word w
// Limit   Neighboring lanes read flags that are 32 apart: see "ballot".
#ifndef CK_PACKBITS_UNROLLED_CUH
#define CK_PACKBITS_UNROLLED_CUH

#include "register.cuh"

namespace packbits {

template <typename T>
__global__ void __launch_bounds__(1024)
    unrolled(const T *__restrict__ x, uint8_t *__restrict__ result, int64_t n, int flip) {
    const int64_t which = grid_thread(), first = which * FLAGS_PER_WORD;
    if (first >= n) return;
    uint32_t word = 0;
    if (n - first >= FLAGS_PER_WORD) {
#pragma unroll
        for (int i = 0; i < FLAGS_PER_WORD; ++i) word |= static_cast<uint32_t>(x[first + i] != 0) << (i ^ flip);
    } else {
        word = gathered(x + first, n - first, flip);
    }
    store_word(result, which, word, n);
}

} // namespace packbits

#endif

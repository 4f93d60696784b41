// bank_conflicts "padded": comes after "strided".
//
// Change  After every `stride` words one word is left unused: what lane t reads lies at (stride + 1) * t.
// Why     stride + 1 is odd where stride is even, and an odd distance leads 32 lanes to 32 banks.
// Claim   wavefronts per request: the greatest common divisor of stride + 1 and 32: 1 for every even stride
// Price   a word in stride + 1; and an odd stride, which had no conflicts, now has them
// Edges   beyond the input's end the tile holds zeros
// Map     word w of the tile lies at w / stride * (stride + 1) + w % stride; the values are those of "strided"
// Limit   the padding must suit the access: of what else reads the same tile, rows stay free of conflicts too
#ifndef CK_BANK_CONFLICTS_PADDED_CUH
#define CK_BANK_CONFLICTS_PADDED_CUH

#include "strided.cuh"

namespace bank_conflicts {

__global__ void __launch_bounds__(THREADS) padded(const uint32_t *__restrict__ x, uint32_t *__restrict__ result,
                                                  int64_t n, int64_t tiles, int stride, ck_clock *clocks) {
    DYNAMIC_SHARED(uint32_t, words);
    const int64_t first = blockIdx.x * static_cast<int64_t>(TILE);
    for (int w = threadIdx.x; w <= (LANES - 1) * stride; w += THREADS)
        words[w / stride * (stride + 1) + w % stride] = first + w < n ? x[first + w] : 0;
    __syncthreads();

    note_start(clocks);
    const uint32_t sum = read_again_and_again(words + (stride + 1) * (threadIdx.x % LANES));
    note_end(clocks);
    if (blockIdx.x < tiles) result[blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x] = sum;
}

} // namespace bank_conflicts

#endif

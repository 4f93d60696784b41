// bank_conflicts "padded": comes after "strided".
//
// Change  One word is left unused after every `stride` words, so lane t reads the word at index (stride + 1) * t.
// Why     If stride is even, stride + 1 is odd, and an odd distance distributes 32 lanes over 32 banks.
// Claim   wavefronts per request: the greatest common divisor of stride + 1 and 32, which is 1 for every even stride
// Price   One of stride + 1 words is wasted. An odd stride, which had no conflicts before, now has them.
// Edges   The tile contains zeros past the end of the input.
// Map     word w of the tile is at index w / stride * (stride + 1) + w % stride; the results are those of "strided"
// Limit   The padding fits only one stride. (Rows of the same tile can still be read without conflicts.)
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

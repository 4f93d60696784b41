// bank_conflicts "strided": the first kernel of the ladder.
//
// Idea    Lane t of a warp repeatedly reads word stride * t of shared memory. Shared memory consists of 32 banks of
//         4-byte words, with word w in bank w % 32. A bank delivers one word at a time, so lanes that read different
//         words of the same bank wait for each other. Lanes that read the same word share it (stride 0, a broadcast).
// Claim   wavefronts per request: the greatest common divisor of stride and 32; 1 for stride 0
// Price   31 * stride + 1 words of shared memory
// Edges   The tile contains zeros past the end of the input.
// Map     block b: elements from 1024 * b on; thread t reads word stride * (t % 32), so all warps read the same words
// Limit   With stride 32 all lanes read from the same bank: see "padded".
#ifndef CK_BANK_CONFLICTS_STRIDED_CUH
#define CK_BANK_CONFLICTS_STRIDED_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "../block_clock.cuh"

namespace bank_conflicts {

enum { LANES = 32, THREADS = 256, TILE = 32 * LANES, ROUNDS = 256 };

// volatile: the compiler must read the word again in each round. Each round has a different weight, so the result
// shows whether a round was skipped.
__device__ __forceinline__ uint32_t read_again_and_again(const volatile uint32_t *word) {
    uint32_t sum = threadIdx.x;
    for (int round = 0; round < ROUNDS; ++round) sum = 3 * sum + *word;
    return sum;
}

__global__ void __launch_bounds__(THREADS) strided(const uint32_t *__restrict__ x, uint32_t *__restrict__ result,
                                                   int64_t n, int64_t tiles, int stride, ck_clock *clocks) {
    DYNAMIC_SHARED(uint32_t, words);
    const int64_t first = blockIdx.x * static_cast<int64_t>(TILE);
    for (int w = threadIdx.x; w <= (LANES - 1) * stride; w += THREADS) words[w] = first + w < n ? x[first + w] : 0;
    __syncthreads();

    note_start(clocks);
    const uint32_t sum = read_again_and_again(words + stride * (threadIdx.x % LANES));
    note_end(clocks);
    if (blockIdx.x < tiles) result[blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x] = sum;
}

} // namespace bank_conflicts

#endif

// The first two stages of sample sort. For each segment, keys are selected as a sample, and a block sorts the sample.
// The splitters are keys at equal distances in the sorted sample.
//
// The segment is divided into stretches of equal length, and one key is selected at random from each stretch. Keys at
// equal distances would give a bad sample if the keys repeat periodically. A sample that is too long for a block has
// already been sorted by sample sort itself.
#ifndef CK_SORT_SAMPLES_CUH
#define CK_SORT_SAMPLES_CUH

#include "bins.cuh"
#include "block_sort.cuh"

namespace sort {

enum { SELECT_THREADS = 256 };

// A hash function: pseudorandom numbers, the same in every call.
__device__ __forceinline__ uint32_t scrambled(uint32_t x) {
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    return x ^ x >> 16;
}

template <typename T>
__global__ void __launch_bounds__(SELECT_THREADS) select_samples(const T *__restrict__ x, sort_level level) {
    const int64_t all = level.segments.count * level.samples;
    const int64_t which = grid_thread();
    if (which >= all) return;
    const key_range segment = level.segments[which / level.samples];
    const int64_t length = segment.end - segment.begin, i = which % level.samples;
    uint32_t key = LARGEST_KEY;
    if (length > 0) {
        const int64_t from = i * length / level.samples, to = (i + 1) * length / level.samples;
        const uint32_t stretch = static_cast<uint32_t>(to > from ? to - from : 1);
        key = to_key(x[segment.begin + from + scrambled(static_cast<uint32_t>(which) + 1) % stretch]);
    }
    level.sample[which] = key;
}

// sorted: the sorted sample of the only segment, or NULL if the blocks have to sort the samples.
__global__ void __launch_bounds__(SORT_THREADS) sort_samples(sort_level level, const uint32_t *sorted) {
    __shared__ uint32_t keys[BLOCK_KEYS];
    const int64_t segment = blockIdx.x;
    const int tid = threadIdx.x;
    if (!sorted) {
        const int samples = static_cast<int>(level.samples);
        const uint32_t *const sample = level.sample + segment * level.samples;
        for (int i = tid; i < samples; i += SORT_THREADS) keys[i] = sample[i];
        __syncthreads();
        sort_in_block(keys, samples);
        sorted = keys;
    }
    for (int i = tid; i < level.bins; i += SORT_THREADS) {
        const bool splits = i + 1 < level.bins;
        level.splitters[segment * level.bins + i] =
            splits ? sorted[(i + 1) * level.samples / level.bins] : static_cast<uint32_t>(LARGEST_KEY);
    }
    for (int i = tid; i < level.divisions(); i += SORT_THREADS) level.counts[segment * level.divisions() + i] = 0;
}

} // namespace sort

#endif

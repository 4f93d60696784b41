// The next two stages of sample sort: the keys of each division are counted, and an exclusive prefix sum of the
// counts gives the index where each division begins.
//
// A block counts its tile in shared memory and then adds each nonzero count to global memory. This takes at most one
// global atomic per division instead of one per key.
#ifndef CK_SORT_COUNT_BINS_CUH
#define CK_SORT_COUNT_BINS_CUH

#include "bins.cuh"

namespace sort {

template <typename T, typename Search>
__global__ void __launch_bounds__(TILE_THREADS) count_bins(const T *__restrict__ x, sort_level level) {
    DYNAMIC_SHARED(uint32_t, shared);
    const int divisions = level.divisions(), tid = threadIdx.x;
    const Search search(shared, level.bins);
    unsigned *const counts = shared + Search::words(level.bins);

    for_tile(level, [&](int64_t segment, const key_range &part) {
        search.load(level.splitters + segment * level.bins);
        for (int d = tid; d < divisions; d += TILE_THREADS) counts[d] = 0;
        __syncthreads();
        uint32_t keys[KEYS_A_TILE_THREAD];
        const int length = static_cast<int>(part.end - part.begin);
        load_tile(x + part.begin, length, keys);
#pragma unroll
        for (int k = 0; k < KEYS_A_TILE_THREAD; ++k)
            if (in_tile(k, length)) atomicAdd(&counts[search.division(keys[k])], 1u);
        __syncthreads();
        for (int d = tid; d < divisions; d += TILE_THREADS)
            if (counts[d] > 0) atomicAdd(&level.counts[segment * divisions + d], static_cast<count_t>(counts[d]));
        __syncthreads();
    });
}

// One block per segment; each thread handles two divisions.
__global__ void __launch_bounds__(TILE_THREADS) scan_bins(sort_level level) {
    const int64_t segment = blockIdx.x;
    const int divisions = level.divisions(), d = 2 * static_cast<int>(threadIdx.x);
    count_t *const counts = level.counts + segment * divisions, *const starts = level.starts + segment * divisions;
    const bool there = d < divisions;
    const count_t first = there ? counts[d] : 0, second = there ? counts[d + 1] : 0;
    const count_t start = static_cast<count_t>(level.segments[segment].begin) + sum_before(first + second);
    if (!there) return;
    starts[d] = counts[d] = start;
    starts[d + 1] = counts[d + 1] = start + first;
}

} // namespace sort

#endif

// sort "sample_sort_sequential": comes after "many_blocks".
//
// Change  The keys are divided first: into bins, of which each holds only smaller keys than the next. Splitters between
//         the bins come from a sorted sample of the keys. Then every bin is sorted by itself, by a block in its shared
//         memory, and nothing is left to merge.
// Why     Keys go through memory as often as they are divided, once for 512 * 4608 keys and twice for more, not once
//         for every doubling. Six kernels, in samples.cuh, count_bins.cuh, scatter.cuh and sort_bins.cuh.
// Claim   words read and written a key: 3 for a level of division and 2 for the bins (before: 2 for each doubling)
// Price   a second buffer of n keys, a third for more than two levels; bins of chance length, and the longest takes the
//         most time
// Edges   any length and any keys: copies of a splitter have a division of their own (bins.cuh), which is not sorted;
//         a bin too long for shared memory is sorted in global memory; up to 7680 keys are one bin
// Map     block b counts, then scatters, the keys 8192 b ...; block b sorts bin b
// Limit   here a key is compared with one splitter after another, half of them on average: "sample_sort"
#ifndef CK_SORT_SAMPLE_SORT_SEQUENTIAL_CUH
#define CK_SORT_SAMPLE_SORT_SEQUENTIAL_CUH

#include "count_bins.cuh"
#include "samples.cuh"
#include "scatter.cuh"
#include "sort_bins.cuh"

namespace sort {

// Which division a key belongs to. The splitters lie in shared memory; all threads of the block load them, and a
// barrier follows.
struct [[gnu::visibility("default")]] sequential_search {
    uint32_t *splitters;
    int bins;

    static __host__ __device__ constexpr int words(int bins) {
        return bins;
    }

    __device__ __forceinline__ sequential_search(uint32_t * shared, int bins) : splitters(shared), bins(bins) {}

    __device__ __forceinline__ void load(const uint32_t *from) const {
        for (int i = threadIdx.x; i < bins; i += blockDim.x) splitters[i] = from[i];
    }
    __device__ __forceinline__ unsigned division(uint32_t key) const {
        int smaller = 0;
        while (smaller < bins - 1 && splitters[smaller] < key) ++smaller;
        return 2 * smaller + (smaller < bins - 1 && splitters[smaller] == key);
    }
};

} // namespace sort

#endif

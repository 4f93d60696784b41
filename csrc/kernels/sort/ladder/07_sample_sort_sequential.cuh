// sort "sample_sort_sequential": comes after "many_blocks".
//
// Change  The keys are first distributed to bins, so that all keys of a bin are smaller than all keys of the next
//         bin. The boundaries of the bins, the splitters, are keys of a sorted sample. Then one block per bin sorts
//         the bin in its shared memory. No merge is necessary. Six kernels, in samples.cuh, count_bins.cuh,
//         scatter.cuh and sort_bins.cuh.
// Why     The number of passes through memory is the number of levels of distribution, one for up to 512 * 4608 keys
//         and two for more, instead of one for each doubling.
// Claim   words read and written per key: 3 per level of distribution and 2 for the bins (before: 2 for each
//         doubling)
// Price   A second buffer of n keys, and a third for more than two levels. The lengths of the bins depend on the
//         sample, and the longest bin takes the most time.
// Edges   The length and the keys are arbitrary. Copies of a splitter go to a division of their own (see bins.cuh),
//         which need not be sorted. A bin that does not fit in shared memory is sorted in global memory. Up to 7680
//         keys are a single bin.
// Map     block b counts, and later scatters, the keys from index 8192b on; block b sorts bin b
// Limit   Each key is compared with one splitter after another, on average with half of them: see "sample_sort".
#ifndef CK_SORT_SAMPLE_SORT_SEQUENTIAL_CUH
#define CK_SORT_SAMPLE_SORT_SEQUENTIAL_CUH

#include "../parts/count_bins.cuh"
#include "../parts/samples.cuh"
#include "../parts/scatter.cuh"
#include "../parts/sort_bins.cuh"

namespace sort {

// Finds the division of a key. The splitters are in shared memory: all threads of the block call load, and a barrier
// must follow before the first search.
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

// sort "sample_sort": comes after "sample_sort_sequential".
//
// Change  A binary search among the splitters, which are stored in the order in which the search uses them: the
//         middle one, then the two quarters, then the four odd eighths, and so on. The six kernels are the same.
// Why     log2(bins) comparisons per key, without a branch, so no lane waits for another
// Claim   comparisons per key and search: log2(bins) + 1 (before: about bins / 2)
// Price   The splitters are in shared memory twice. The second copy is in ascending order, for the last comparison:
//         is the key equal to a splitter?
// Edges   The number of bins is a power of two, so all keys take the same number of steps. A key that is equal to
//         several splitters finds the first of them.
// Map     The children of node j are nodes 2j and 2j + 1. The nodes of one step are contiguous, so they are in
//         different banks, up to the 32 nodes of step 5. In ascending order, the splitters of step d would be bins /
//         2^d words apart, in few banks.
// Limit   each key is searched for twice per level; the sorting network and the merges within the bins
#ifndef CK_SORT_SAMPLE_SORT_CUH
#define CK_SORT_SAMPLE_SORT_CUH

#include "../parts/count_bins.cuh"
#include "../parts/samples.cuh"
#include "../parts/scatter.cuh"
#include "../parts/sort_bins.cuh"

namespace sort {

struct [[gnu::visibility("default")]] binary_search {
    uint32_t *nodes, *splitters;
    int bins;

    static __host__ __device__ constexpr int words(int bins) {
        return 2 * bins;
    }

    __device__ __forceinline__ binary_search(uint32_t * shared, int bins)
        : nodes(shared), splitters(shared + bins), bins(bins) {}

    __device__ __forceinline__ void load(const uint32_t *from) const {
        for (int i = threadIdx.x; i < bins; i += blockDim.x) {
            splitters[i] = from[i];
            if (i == 0) continue; // node 1 is the root
            const int step = 31 - __clz(i), place = i - (1 << step);
            nodes[i] = from[(2 * place + 1) * (bins >> (step + 1)) - 1];
        }
    }
    __device__ __forceinline__ unsigned division(uint32_t key) const {
        int node = 1;
        while (node < bins) node = 2 * node + (nodes[node] < key);
        const int smaller = node - bins; // the number of splitters smaller than the key
        return 2 * smaller + (smaller < bins - 1 && splitters[smaller] == key);
    }
};

} // namespace sort

#endif

// sort "sample_sort": comes after "sample_sort_sequential".
//
// Change  A binary search of the splitters, which lie in the order in which it asks for them: the middle one, the two
//         quarters, the four eighths ... The six kernels are the same.
// Why     log2(bins) questions; without a branch, so that no lane waits for another.
// Claim   comparisons a key and search: log2(bins) + 1 (before: bins / 2)
// Price   the splitters twice in shared memory: in order too, for the last question, whether the key is one of them
// Edges   bins are a power of two, so that all keys take the same number of steps; a key equal to several splitters
//         finds the first of them
// Map     node j has the nodes 2 j and 2 j + 1 below it. The nodes of one step are neighbors, in different banks up to
//         the 32 of step 5; in order, those of step d would be bins / 2^d apart, in few banks
// Limit   every key is searched twice a level; the network and the merges of the bins
#ifndef CK_SORT_SAMPLE_SORT_CUH
#define CK_SORT_SAMPLE_SORT_CUH

#include "count_bins.cuh"
#include "samples.cuh"
#include "scatter.cuh"
#include "sort_bins.cuh"

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
            if (i == 0) continue; // (node 1 is the root)
            const int step = 31 - __clz(i), place = i - (1 << step);
            nodes[i] = from[(2 * place + 1) * (bins >> (step + 1)) - 1];
        }
    }
    __device__ __forceinline__ unsigned division(uint32_t key) const {
        int node = 1;
        while (node < bins) node = 2 * node + (nodes[node] < key);
        const int smaller = node - bins; // splitters are smaller than the key
        return 2 * smaller + (smaller < bins - 1 && splitters[smaller] == key);
    }
};

} // namespace sort

#endif

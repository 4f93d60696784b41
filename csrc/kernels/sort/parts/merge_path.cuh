// Merging two sorted runs with any number of threads: each thread finds by binary search where its part of the result
// begins in both runs, and merges only that part.
//
//     the first a keys of run A and the first b keys of run B are the first a + b keys of the merged run
#ifndef CK_SORT_MERGE_PATH_CUH
#define CK_SORT_MERGE_PATH_CUH

#include "keys.cuh"

namespace sort {

// The keys 0 to n - 1 consist of runs of `width` keys; the last run may be shorter. A run_pair is the two runs whose
// merged run contains the key at index `at`.
template <typename Index> struct run_pair {
    Index begin, first, second; // the index where the first run begins; the lengths of both runs

    __device__ __forceinline__ run_pair(Index at, Index width, Index n) {
        begin = at / (2 * width) * (2 * width);
        const Index rest = n - begin;
        first = rest < width ? rest : width;
        second = rest - first < width ? rest - first : width;
    }
};

// The number of keys from the first run among the first `count` keys of the merged run. Of equal keys, those from the
// first run come first.
template <typename Index>
__device__ __forceinline__ Index merge_split(const uint32_t *keys, const run_pair<Index> &runs, Index count) {
    const uint32_t *const a = keys + runs.begin, *const b = a + runs.first;
    Index low = count > runs.second ? count - runs.second : 0, high = count < runs.first ? count : runs.first;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (a[middle] <= b[count - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// COUNT keys of the merged run, beginning at index `at` of the whole array. Past the end of the run, LARGEST_KEY.
template <int COUNT, typename Index>
__device__ __forceinline__ void merge_part(const uint32_t *keys, Index at, Index width, Index n,
                                           uint32_t (&part)[COUNT]) {
    const run_pair<Index> runs(at, width, n);
    const Index before = at - runs.begin;
    Index a = merge_split(keys, runs, before), b = before - a;
    a += runs.begin, b += runs.begin + runs.first;
    const Index a_end = runs.begin + runs.first, b_end = a_end + runs.second;
    uint32_t a_key = a < a_end ? keys[a] : LARGEST_KEY, b_key = b < b_end ? keys[b] : LARGEST_KEY;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const bool from_a = b >= b_end || (a < a_end && a_key <= b_key);
        part[i] = from_a ? a_key : b_key;
        if (from_a) {
            ++a;
            a_key = a < a_end ? keys[a] : LARGEST_KEY;
        } else {
            ++b;
            b_key = b < b_end ? keys[b] : LARGEST_KEY;
        }
    }
}

} // namespace sort

#endif

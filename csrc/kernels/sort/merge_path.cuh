// Two sorted runs become one, by any number of threads: each finds by a binary search where its part of the result
// begins in both runs, and merges that part alone.
//
//     first a keys of run A, first b of run B  =  the first `a + b` keys of the merged run
#ifndef CK_SORT_MERGE_PATH_CUH
#define CK_SORT_MERGE_PATH_CUH

#include "keys.cuh"

namespace sort {

// Runs of `width` keys lie side by side from key 0 to key n (the last may be shorter): the two that are merged into
// the run that key `at` belongs to.
template <typename Index> struct run_pair {
    Index begin, first, second; // where the first run begins; lengths

    __device__ __forceinline__ run_pair(Index at, Index width, Index n) {
        begin = at / (2 * width) * (2 * width);
        const Index rest = n - begin;
        first = rest < width ? rest : width;
        second = rest - first < width ? rest - first : width;
    }
};

// How many of the first `count` keys of the merged run come from the first run. Equal keys: from the first.
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

// The keys of the merged run from its key `at` on, counted from 0 in all keys; the largest key where there are none.
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

// sort "many_blocks": comes after "merge_hybrid".
//
// Change  Each block sorts one piece of the array in its shared memory, as "merge_hybrid" does. Further launches
//         merge pairs of sorted runs, with one thread per 8 keys of the result.
// Why     All multiprocessors are used, and pieces that fit in shared memory are sorted there.
// Claim   launches: 1 + ceil(log2(pieces)), and each moves every key once; threads that merge: n / 8 (before: one key
//         at a time)
// Price   a workspace of n keys for two pieces, of 2n keys for three or more
// Edges   The length is arbitrary: the last piece, and later the last run, may be shorter. A run without a partner is
//         only copied.
// Map     block b sorts piece b; thread t computes keys 8t to 8t + 7 of the merged runs
// Limit   The whole array goes through memory once for each doubling of the run length: "sample_sort_sequential" does
//         without a merge.
#ifndef CK_SORT_MANY_BLOCKS_CUH
#define CK_SORT_MANY_BLOCKS_CUH

#include "../../grid.cuh"
#include "05_merge_hybrid.cuh"
#include "../parts/merge_path.cuh"

namespace sort {

enum { MERGE_THREADS = 256, KEYS_A_MERGER = 8 };

// To: T if the piece is the whole array, otherwise uint32_t, for keys.
template <typename T, typename To>
__global__ void __launch_bounds__(MOST_LISTS)
    many_blocks(const T *__restrict__ x, To *__restrict__ result, int64_t n, int piece) {
    DYNAMIC_SHARED(uint32_t, keys);
    const int64_t begin = static_cast<int64_t>(blockIdx.x) * piece, rest = n - begin;
    const int64_t length = rest < piece ? rest : piece;
    sort_lists(x + begin, keys, keys + piece, length);
    merge_by_groups(keys, result + begin, length);
}

template <typename To>
__global__ void __launch_bounds__(MERGE_THREADS)
    merge_runs(const uint32_t *__restrict__ keys, To *__restrict__ result, int64_t n, int64_t width) {
    const int64_t at = grid_thread() * KEYS_A_MERGER;
    if (at >= n) return;
    uint32_t part[KEYS_A_MERGER];
    merge_part(keys, at, width, n, part);
#pragma unroll
    for (int i = 0; i < KEYS_A_MERGER; ++i)
        if (at + i < n) result[at + i] = from_key<To>(part[i]);
}

} // namespace sort

#endif

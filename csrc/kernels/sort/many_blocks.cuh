// sort "many_blocks": comes after "merge_hybrid".
//
// Change  Every block sorts a piece in its shared memory, as "merge_hybrid" does; then one launch after another merges
//         two runs to one, by as many threads as there are keys for.
// Why     All multiprocessors work; and pieces that fit shared memory are sorted there.
// Claim   launches: 1 + log2(pieces), rounded up; each moves every key once. Threads that merge: n / 8 (before: one
//         key at a time)
// Price   a second buffer of n keys, a third from three pieces on
// Edges   any length: the last piece, and then the last run, may be shorter, or alone and only copied
// Map     block b sorts piece b; thread t merges the keys 8 t ... 8 t + 7 of the result
// Limit   the whole array goes through memory once for each doubling of the pieces: "sample_sort_sequential" has no
//         merge at all
#ifndef CK_SORT_MANY_BLOCKS_CUH
#define CK_SORT_MANY_BLOCKS_CUH

#include "../grid.cuh"
#include "merge_hybrid.cuh"
#include "merge_path.cuh"

namespace sort {

enum { MERGE_THREADS = 256, KEYS_A_MERGER = 8 };

// To: T where the piece is the whole array, else keys.
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

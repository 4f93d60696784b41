// matmul "wgmma_groups": comes after "wgmma_split_k".
//
// Change  Pairs of blocks share what they copy, as in "wgmma_multicast", and several clusters (groups) compute parts
//         of k of the same pair of tiles. A second kernel adds their sums, as in "wgmma_split_k".
// Why     Where C is small and k long, the blocks of a cluster of "wgmma_split_k" read different parts of k: each
//         reads all of its operands by itself, and the L2 cache delivers a tile's rows and columns to one block only.
// Claim   bytes read from the L2 cache for m = n = 512 and a slab: 384 KiB (before: 512 KiB)
// Gain    on an H200, 512 x 512 x 65536: 487 TFLOP/s in float16 (before: 470; cuBLAS 617); docs/speed.md
// Price   the sums of all groups go through the workspace
// Edges   as in "wgmma_multicast"; results are stored by threads. A group without a slab adds zeros.
// Map     cluster c: items c, c + clusters, ...; item i: group i % groups of pair i / groups; blocks and threads as
//         in "wgmma_multicast"
// Limit   the memory's bandwidth; the second launch
#ifndef CK_MATMUL_WGMMA_GROUPS_CUH
#define CK_MATMUL_WGMMA_GROUPS_CUH

#include "25_wgmma_multicast.cuh" // the work of a block
#include "26_wgmma_split_k.cuh"   // the sums of groups

namespace matmul {

// What a cluster computes: parts of pairs, one after another.
struct parts_of_pairs {
    whole_pairs items; // all parts of all pairs
    const int groups;
    int pair = 0, group = 0, begin = 0, end = 0;

    __device__ __forceinline__ bool next() {
        const bool more = items.next();
        pair = items.pair / groups, group = items.pair % groups;
        begin = static_cast<int>(static_cast<int64_t>(items.end) * group / groups);
        end = static_cast<int>(static_cast<int64_t>(items.end) * (group + 1) / groups);
        return more;
    }
};

template <typename T, typename size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(size::THREADS, 1)
    wgmma_groups(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                 const box_operands<T> operands, const group_sums sums_of_groups) {
    if (!CK_HAS_WGMMA) return;
    let_next_grid_begin(); // add_groups, which waits
    const int groups = sums_of_groups.groups, m = operands.m, n = operands.n;
    compute_pairs<T, size, A_ALONG_K, B_ALONG_K>(
        a_map, b_map, operands, parts_of_pairs{whole_pairs::of<size>(operands, SLAB_DEPTH, groups), groups},
        [&](unsigned char *, const parts_of_pairs &work, int number, int row, int column, const auto &sum) {
            if (groups == 1)
                store_sums(product_index<T>(operands, number).c, row, column, m, n, sum);
            else
                store_sums(sums_of_groups.matrix(m, n, work.group, operands.products, number), row, column, m, n,
                           sum);
        });
}

} // namespace matmul

#endif

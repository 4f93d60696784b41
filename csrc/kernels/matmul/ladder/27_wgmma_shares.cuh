// matmul "wgmma_shares": comes after "wgmma_multicast".
//
// Change  The last pairs of tiles, one to two for each cluster, are taken as one long row of slabs, which is cut into
//         equal shares (split_shares.cuh): a cluster may begin and end in the middle of a pair. The sums of its part
//         go to a workspace, and the warp that comes last adds them.
// Why     Whole pairs come in rounds. Of 144 pairs, 66 clusters compute 66 in each of two rounds, and 12 in a third
//         one, in which the others have nothing to do.
// Claim   slabs of 64 that a multiprocessor computes for m = n = k = 3000: 103 (before: 141)
// Price   128 KiB of workspace for each block, which it writes once and others read; a launch that sets the counters
//         of the parts to zero
// Edges   as in "wgmma_multicast". The sums of parts are added in the order of k, whichever comes last.
// Map     cluster c: pairs c, c + clusters, ... of those that are not shared, then share c of the row; blocks and
//         threads as in "wgmma_multicast"
// Limit   as in "wgmma_multicast"; where a share is short, the time to add the parts
#ifndef CK_MATMUL_WGMMA_SHARES_CUH
#define CK_MATMUL_WGMMA_SHARES_CUH

#include "../parts/split_sums.cuh"
#include "25_wgmma_multicast.cuh" // the work of a block

namespace matmul {

struct wgmma_parts {
    split_pairs all;
    float *sums;        // of parts of tiles (split_parts)
    unsigned *arrivals; // of warps that have parts of a tile; 0 at first
};

template <typename T, typename size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(size::THREADS, 1)
    wgmma_shares(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                 const __grid_constant__ tensor_map c_map, const __grid_constant__ box_operands<T> operands,
                 const wgmma_parts shared) {
    if (!CK_HAS_WGMMA) return;
    enum { COUNT = size::COLUMNS / 2 };
    split_parts<COUNT> parts{shared.sums, shared.arrivals, shared.all,
                             cluster_rank() * SPLIT_WARPS + static_cast<int>(threadIdx.x) / 32 - 4};
    compute_pairs<T, size, A_ALONG_K, B_ALONG_K>(
        a_map, b_map, operands, split_work(shared.all),
        [&](unsigned char *results, const split_work &work, int number, int row, int column, float(&sum)[COUNT]) {
            if (work.begin == 0 && work.end == work.all.slabs) {
                store_tile_of(operands, c_map, results, number, row, column, sum);
                return;
            }
            wait_for_stores();
            wait_for_grid_before(); // the arrivals are 0
            bool complete = parts.finish(sum, work);
            if (parts.unannounced) {
                parts.announce(work.pair);
                complete = parts.last_to_come;
                if (complete) {
#pragma unroll
                    for (int i = 0; i < COUNT; ++i) sum[i] = 0;
                    parts.add_parts(sum, work.all.first_of(work.pair), work.pair);
                }
            }
            if (complete) store_by_warps(operands, results, number, row, column, sum);
        });
    if (threadIdx.x % 128 == 0) tensor_store_wait<0, false>();
}

} // namespace matmul

#endif

// How the clusters of "split_fp16" and "split_bf16" share the tiles of C, so that all have the same work (Stream-K:
// Osama et al. 2023), and how they stay in step.
//
// If each cluster computed whole tiles only, 80 tiles would take 66 clusters the time of 132. So the last tiles, one
// to two for each cluster, or all, if there are fewer than clusters, are taken as one long row of slabs, and the row
// is cut into equal shares. (With twice as many clusters as tiles, say, these are two equal parts of each tile.) Five
// tiles of six slabs, four clusters:
//
//     tile       0           1           2           3           4
//     slab       0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5
//     cluster    0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3
//
// split_sums.cuh says how the sums of parts of a tile are added.
#ifndef CK_MATMUL_SPLIT_SHARES_CUH
#define CK_MATMUL_SPLIT_SHARES_CUH

#include <cuda_runtime.h>

namespace matmul {

enum { SPLIT_PAIR = 2 }; // blocks of a cluster, whose tiles are stacked vertically and share B

// The pairs of tiles of all products: clusters visit the first `whole` of them in turn, and share the others.
struct split_pairs {
    int clusters, pairs, whole, slabs;
    unsigned row; // the number of slabs that are shared

    // In the row: the first slab of a cluster's share, and the cluster that has a slab.
    __device__ __forceinline__ int begin_of(int cluster) const {
        return static_cast<int>(static_cast<unsigned>(cluster) * row / static_cast<unsigned>(clusters));
    }
    __device__ __forceinline__ int cluster_of(int slab) const {
        return static_cast<int>((static_cast<unsigned>(slab + 1) * static_cast<unsigned>(clusters) - 1) / row);
    }
    // The clusters that have the beginning and the end of a pair that is shared.
    __device__ __forceinline__ int first_of(int pair) const { return cluster_of((pair - whole) * slabs); }
    __device__ __forceinline__ int last_of(int pair) const { return cluster_of((pair + 1 - whole) * slabs - 1); }
};

// What a cluster computes, one pair of tiles after another: slabs `begin` to `end` of `pair`.
struct split_work {
    const split_pairs all;
    const int cluster;
    int pair, begin = 0, end;
    int first, next_pair, next_begin; // of the share: where it begins; and the next part
    int left;                         // slabs of the share

    __device__ __forceinline__ explicit split_work(const split_pairs &all_)
        : all(all_), cluster(static_cast<int>(blockIdx.x) / SPLIT_PAIR), pair(cluster - all_.clusters),
          end(all_.slabs) {
        const int at = all.begin_of(cluster);
        next_pair = first = all.whole + at / all.slabs, next_begin = at % all.slabs;
        left = all.begin_of(cluster + 1) - at;
    }

    // (No branches here: with them, the compiler would not see that all threads of a warp agree, and the loop over
    // slabs would be slower.)
    __device__ __forceinline__ bool next() {
        pair += all.clusters;
        const bool shared = pair >= all.whole;
        const int most = next_begin + left < all.slabs ? next_begin + left : all.slabs;
        pair = shared ? next_pair : pair, begin = shared ? next_begin : 0, end = shared ? most : all.slabs;
        next_pair += shared ? 1 : 0, next_begin = shared ? 0 : next_begin, left -= shared ? end - begin : 0;
        return begin < end;
    }
    // Whether every cluster has a pair of its own now.
    __device__ __forceinline__ bool all_begin() const { return pair - cluster + all.clusters <= all.whole; }
};

// Clusters that compute neighboring tiles at the same time read the same rows of A and columns of B. Whoever is
// second finds them in the L2 cache, if it is not far behind. But no multiprocessor is exactly as fast as the next
// one, and after a hundred tiles some are far ahead: each then reads from memory what others have read before. So the
// clusters wait for each other from time to time. (On an H200, m = n = k = 16384, "split_bf16" then reads 41 GB
// instead of 154 GB, and takes 78 ms instead of 86: reading takes power, and power limits the clock.)
//
// IN_STEP_SLABS: the least that a cluster computes between two meetings. (With 128 to 1024, times are the same within
// 2 %.) IN_STEP_POLLS: how often a cluster looks for the others before it gives up, which takes about half a
// millisecond.
enum { IN_STEP_SLABS = 512, IN_STEP_POLLS = 500 };

// One thread of each cluster has this.
struct clusters_in_step {
    unsigned *arrivals;  // of all clusters, at all meetings; 0 at first
    int clusters, every; // of the grid; tiles between two meetings
    int tiles = 0;       // begun so far
    // the most for which it waits: others may not have begun, because something else has their multiprocessors
    int polls;

    __device__ __forceinline__ clusters_in_step(unsigned *arrivals_, int clusters_, int slabs_of_tile,
                                                int polls_ = IN_STEP_POLLS)
        : arrivals(arrivals_), clusters(clusters_), every((IN_STEP_SLABS + slabs_of_tile - 1) / slabs_of_tile),
          polls(arrivals_ ? polls_ : 0) {}

    // Call it before a tile, in rounds in which every cluster has a tile. A cluster that has waited in vain does not
    // come to later meetings, so the others soon stop waiting, too. Results do not depend on waiting.
    __device__ __forceinline__ void begin_tile() {
        if (polls == 0 || ++tiles % every != 0) return;
        const unsigned all = static_cast<unsigned>(tiles / every) * static_cast<unsigned>(clusters);
        atomicAdd(arrivals, 1u);
        for (int left = polls; atomicAdd(arrivals, 0u) < all; --left) {
            if (left == 0) {
                polls = 0;
                return;
            }
            __nanosleep(100);
        }
    }
};

} // namespace matmul

#endif

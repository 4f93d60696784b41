// Clusters of a persistent grid that stay in step, for "split_fp16" and "split_bf16".
//
// Clusters that compute neighboring tiles at the same time read the same rows of A and columns of B. Whoever is
// second finds them in the L2 cache, if it is not far behind. But no multiprocessor is exactly as fast as the next
// one, and after a hundred tiles some are far ahead: each then reads from memory what others have read before. So the
// clusters wait for each other from time to time.
//
// On an H200, m = n = k = 16384, "split_bf16" reads 41 GB instead of 154 GB, and takes 78 ms instead of 86. Reading
// was not the bottleneck, but it needs power: the chip is at its power limit, and where it moves less data, its clock
// is faster (1.67 instead of 1.5 GHz).
#ifndef CK_MATMUL_IN_STEP_CUH
#define CK_MATMUL_IN_STEP_CUH

#include <cuda_runtime.h>

namespace matmul {

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

// How "wgmma_split" divides the work, and how long it takes: for its plan, its launches and "fastest".
#ifndef CK_MATMUL_WGMMA_SPLIT_PLANS_CUH
#define CK_MATMUL_WGMMA_SPLIT_PLANS_CUH

#include "cluster_tilings.cuh"
#include "wgmma_launches.cuh"
#include "wgmma_split.cuh"

namespace matmul {

// Fitted to an H200.
inline cluster_tiling wgmma_split_tiling_of(const ck_call *call) {
    return shortest_tiling(call, wgmma_split_64::ROWS, 64, 16, call->parameters[2], [](const cluster_load &load) {
        const bool wide = load.columns == 128;
        const int64_t at_once = load.at_once * (wide ? 1 : int(wgmma_split_64::BLOCKS));
        const double rounds = ceil(load.clusters / static_cast<double>(at_once)), all = load.share;
        // A slab takes longer the more multiprocessors load at the same time, or where two blocks share one.
        const double busy = all < 1 ? all : 1, shared = wide || all < 1 ? 1 : all < 2 ? 0.6 + 0.4 * all : 1.4;
        const double slab = wide ? 0.24 + 0.34 * busy : (0.29 + 0.34 * busy) * shared;
        const double time = 5.4 + rounds * ((wide ? 5.5 : 3.5) + load.slabs * slab) +
                            (load.parts == 1   ? 0
                             : load.parts == 8 ? 1.7
                                               : 0.6);
        if (load.groups == 1) return time;
        return time + 4 + load.results * static_cast<double>(2 * load.groups + 1) * 4 / 2.5e6;
    });
}

} // namespace matmul

#endif

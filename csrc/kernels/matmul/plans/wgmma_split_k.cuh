// How "wgmma_split_k" divides the work, and how long it takes: for its plan, its launches and "fastest".
#ifndef CK_MATMUL_PLANS_WGMMA_SPLIT_K_CUH
#define CK_MATMUL_PLANS_WGMMA_SPLIT_K_CUH

#include "cluster_tilings.cuh"
#include "../launches/hopper.cuh"
#include "../ladder/26_wgmma_split_k.cuh"

namespace matmul {

// Fitted to an H200.
inline cluster_tiling wgmma_split_tiling_of(const ck_call *call) {
    const int64_t m = rows(call), n = columns(call), k = inner(call);
    const double bytes = static_cast<double>(product(product(m + n, k), products(call))) * 2;
    return shortest_tiling(call, wgmma_split_k_64::ROWS, 64, 16, call->parameters[2], [=](const cluster_load &load) {
        const bool wide = load.columns == 128;
        const double rounds = ceil(load.clusters / static_cast<double>(load.at_once));
        // A slab takes longer the more multiprocessors load at the same time.
        const double busy = load.share < 1 ? load.share : 1, slab = wide ? 0.18 + 0.28 * busy : 0.2 + 0.09 * busy;
        const double compute = rounds * ((wide ? 4.5 : 2.6) + load.slabs * slab);
        // Memory is only as fast as it can be if the multiprocessors copy enough different elements of the larger
        // operand at once.
        const int64_t down = load.transposed ? n : m, across = load.transposed ? m : n;
        const bool rows_are_more = down > across;
        const double lines = static_cast<double>(rows_are_more ? smaller(down, 128) : smaller(across, load.columns)),
                     tiles =
                         static_cast<double>(rows_are_more ? divide_up(across, load.columns) : divide_up(down, 128));
        const double different = load.share / rounds * lines / tiles / static_cast<double>(128 + load.columns);
        const double read =
            3.5 + bytes / (different < 0.45 ? 3.2e6 : 3.9e6) + 3 * (rounds - 1); // each round fills its pipeline
        const double time = 4.5 + (compute > read ? compute : read) + 0.1 * compute +
                            (load.parts == 1   ? 0
                             : load.parts == 8 ? 1.7
                                               : 0.6);
        if (load.groups == 1) return time;
        return time + 2.5 + load.results * static_cast<double>(2 * load.groups + 1) * 4 / 2.5e6;
    });
}

} // namespace matmul

#endif

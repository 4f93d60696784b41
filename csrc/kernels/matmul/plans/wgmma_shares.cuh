// How "wgmma_shares" divides the work among clusters, and how long it takes: for its plan, its launch and "fastest".
#ifndef CK_MATMUL_PLANS_WGMMA_SHARES_CUH
#define CK_MATMUL_PLANS_WGMMA_SHARES_CUH

#include "../ladder/27_wgmma_shares.cuh"
#include "../launches/hopper.cuh"
#include "../launches/split.cuh"

namespace matmul {

using wgmma_shares_size = wgmma_persistent_256;

struct wgmma_shares_tiling {
    split_pairs all;
    double time; // estimated, in microseconds
};

// Fitted to an H200. A longer k is not shared: numbers of slabs have 32 bits.
inline wgmma_shares_tiling wgmma_shares_of(const ck_call *call) {
    using size = wgmma_shares_size;
    const int64_t down = divide_up(rows(call), PAIR * size::ROWS), across = divide_up(columns(call), size::COLUMNS);
    const int64_t pairs = product(product(down, across), products(call)), most = split_clusters(call);
    const int64_t k = inner(call), slabs = divide_up(k, SLAB_DEPTH);
    const int64_t wanted = k > 0 && k <= SPLIT_MOST_K ? call->parameters[0] : +SHARE_PAIRS;
    wgmma_shares_tiling best = {};
    best.time = -1;
    for (const int way : {SHARE_PAIRS, SHARE_PARTS, SHARE_SLABS}) {
        if (wanted != 0 && wanted != way) continue;
        const split_pairs all = split_pairs_of(way, pairs, slabs > 0 ? slabs : 1, most);
        const double clusters = all.clusters, whole = ceil(all.whole / clusters), share = ceil(all.row / clusters);
        const double time = 4 + whole * (3.5 + static_cast<double>(slabs) * 0.61) +
                            (all.row > 0 ? share * 0.61 + 8 + 1.2 * static_cast<double>(slabs) / share : 0);
        if (best.time < 0 || time < best.time) best = {all, time};
    }
    return best;
}

// The workspace: the arrivals, and behind them two parts of tiles for each cluster.
inline int64_t wgmma_arrivals(const split_pairs &all) {
    return divide_up(split_arrivals(all), 64) * 64;
}

} // namespace matmul

#endif

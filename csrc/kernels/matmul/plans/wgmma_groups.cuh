// How "wgmma_groups" divides the work, and how long it takes: for its plan, its launch and "fastest".
#ifndef CK_MATMUL_PLANS_WGMMA_GROUPS_CUH
#define CK_MATMUL_PLANS_WGMMA_GROUPS_CUH

#include "../ladder/27_wgmma_groups.cuh"
#include "../launches/groups.cuh"

namespace matmul {

using wgmma_groups_size = wgmma_split_k_128;

struct wgmma_groups_tiling {
    int64_t pairs, groups; // of all products; for each pair
    double time;           // estimated, in microseconds
};

// Fitted to an H200.
inline wgmma_groups_tiling wgmma_groups_of(const ck_call *call) {
    using size = wgmma_groups_size;
    const int64_t down = divide_up(rows(call), PAIR * size::ROWS), across = divide_up(columns(call), size::COLUMNS);
    const int64_t pairs = product(product(down, across), products(call)), slabs = divide_up(inner(call), SLAB_DEPTH);
    const int64_t wanted = call->parameters[0], clusters = call->limits->multiprocessors / PAIR;
    // The memory, of which tiles that are not full keep fewer bytes in flight; and the L2 cache.
    const double all_slabs = static_cast<double>(product(pairs, slabs));
    const double memory =
        elements_of(call, down * PAIR * size::ROWS + across * size::COLUMNS, inner(call)) * 2 / 3.4e6;
    const double cache = all_slabs * (PAIR * size::ROWS + size::COLUMNS) * SLAB_BYTES / 7e6;
    const double read = memory > cache ? memory : cache;
    const double results = static_cast<double>(all_results(call));
    wgmma_groups_tiling best = {};
    for (int64_t groups = wanted != 0 ? wanted : 1;; ++groups) {
        const int64_t rounds = divide_up(product(pairs, groups), clusters > 0 ? clusters : 1);
        const double compute =
            static_cast<double>(rounds) * (2 + static_cast<double>(divide_up(slabs, groups)) * 0.38);
        double time = 5 + (compute > read ? compute : read);
        if (groups > 1) time += 2.5 + results * static_cast<double>(2 * groups + 1) * 4 / 2.5e6;
        if (best.groups == 0 || time < best.time) best = {pairs, groups, time};
        if (wanted != 0 || (groups + 1) * 16 > slabs || rounds > 2) return best;
    }
}

} // namespace matmul

#endif

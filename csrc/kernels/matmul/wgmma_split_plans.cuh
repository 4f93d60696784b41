// How "wgmma_split" divides the work, and how long it takes: for its plan, its launches and "fastest".
#ifndef CK_MATMUL_WGMMA_SPLIT_PLANS_CUH
#define CK_MATMUL_WGMMA_SPLIT_PLANS_CUH

#include "group_launches.cuh"
#include "wgmma_launches.cuh"
#include "wgmma_split.cuh"

namespace matmul {

// The width of the tiles, the blocks of a cluster, the clusters of a tile and the side of C that lies along the tiles'
// columns with the shortest estimated time (in microseconds, fitted to an H200), unless the caller chooses.
struct wgmma_split_tiling {
    int64_t columns, tiles, parts, groups;
    bool transposed;
    double time;
};
inline wgmma_split_tiling wgmma_split_tiling_of(const ck_call *call) {
    const int64_t columns_of_tile = call->parameters[0], parts = call->parameters[1], groups = call->parameters[2],
                  side = call->parameters[3];
    const int64_t slabs = divide_up(inner(call), SLAB_DEPTH), all_products = products(call);
    const double results = static_cast<double>(product(product(rows(call), columns(call)), all_products));
    wgmma_split_tiling best = {};
    for (const bool transposed : {false, true})
        for (int64_t width = 128; width >= 64; width /= 2) {
            if (columns_of_tile != 0 && columns_of_tile != width) continue;
            if (side != 0 && side != (transposed ? 2 : 1)) continue;
            const int64_t down = transposed ? columns(call) : rows(call),
                          across = transposed ? rows(call) : columns(call);
            const int64_t tiles = product(divide_up(down, wgmma_split_64::ROWS), divide_up(across, width));
            for (int64_t size = 1; size <= MOST_PARTS; size *= 2) {
                if (parts != 0 ? parts != size : size > 1 && size > slabs) continue;
                const bool wide = width == 128;
                const int64_t at_once = clusters_at_once(call, size) * (wide ? 1 : int(wgmma_split_64::BLOCKS));
                for (int64_t count = groups != 0 ? groups : 1;; count *= 2) {
                    const double own = static_cast<double>(divide_up(slabs, size * count));
                    const double clusters = static_cast<double>(product(product(tiles, all_products), count));
                    const double rounds = ceil(clusters / static_cast<double>(at_once > 0 ? at_once : 1));
                    // A slab takes longer the more multiprocessors load at the same time, or where two blocks share one.
                    const double all = clusters * static_cast<double>(size) / call->limits->multiprocessors;
                    const double busy = all < 1 ? all : 1, shared = wide || all < 1 ? 1
                                                                    : all < 2       ? 0.6 + 0.4 * all
                                                                                    : 1.4;
                    const double slab = wide ? 0.24 + 0.34 * busy : (0.29 + 0.34 * busy) * shared;
                    double time = 5.4 + rounds * ((wide ? 5.5 : 3.5) + own * slab) +
                                  (size == 1   ? 0
                                   : size == 8 ? 1.7
                                               : 0.6);
                    if (count > 1) time += 4 + results * static_cast<double>(2 * count + 1) * 4 / 2.5e6;
                    if (best.columns == 0 || time < best.time) best = {width, tiles, size, count, transposed, time};
                    if (groups != 0 || count * 32 > slabs / size) break;
                }
            }
        }
    return best;
}

} // namespace matmul

#endif

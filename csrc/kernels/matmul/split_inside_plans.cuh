// How "split_inside" divides the work, and how long it takes: for its plan, its launches and "fastest".
#ifndef CK_MATMUL_SPLIT_INSIDE_PLANS_CUH
#define CK_MATMUL_SPLIT_INSIDE_PLANS_CUH

#include "group_launches.cuh"
#include "split_inside.cuh"

namespace matmul {

// The width of the tiles, the blocks of a cluster, the clusters of a tile and the side of C that lies along the tiles'
// columns with the shortest estimated time (in microseconds, fitted to an H200), unless the caller chooses. A sum in
// registers has at most 128 slabs, so that its rounding stays small.
struct split_inside_tiling {
    int64_t columns, tiles, parts, groups;
    bool transposed;
    double time;
};
inline split_inside_tiling split_inside_tiling_of(const ck_call *call) {
    const int64_t columns_of_tile = call->parameters[0], parts = call->parameters[1], side = call->parameters[3];
    int64_t groups = call->parameters[2];
    const int64_t slabs = divide_up(inner(call), SLAB_DEPTH), all_products = products(call);
    const double results = static_cast<double>(product(product(rows(call), columns(call)), all_products));
    if (all_products > call->limits->max_grid[2]) groups = 1; // the sums of groups need all products in one launch
    split_inside_tiling best = {};
    for (const bool transposed : {false, true})
        for (int64_t width = 128; width >= 64; width /= 2) {
            if (columns_of_tile != 0 && columns_of_tile != width) continue;
            if (side != 0 && side != (transposed ? 2 : 1)) continue;
            const int64_t down = transposed ? columns(call) : rows(call),
                          across = transposed ? rows(call) : columns(call);
            const int64_t tiles = product(divide_up(down, split_inside_128::ROWS), divide_up(across, width));
            for (int64_t size = 1; size <= MOST_PARTS; size *= 2) {
                if (parts != 0 ? parts != size : size > 1 && size > slabs) continue;
                const int64_t at_once = clusters_at_once(call, size);
                for (int64_t count = groups != 0 ? groups : 1;; count *= 2) {
                    const int64_t own = divide_up(slabs, size * count);
                    const double clusters = static_cast<double>(product(product(tiles, all_products), count));
                    const double rounds = ceil(clusters / static_cast<double>(at_once > 0 ? at_once : 1));
                    // A slab takes longer the more multiprocessors load at the same time, most of all the first sixteen.
                    const double all = clusters * static_cast<double>(size) / call->limits->multiprocessors;
                    const double busy = all < 1 ? all : 1, first = static_cast<double>(own < 16 ? own : 16);
                    const double slabs_time =
                        width == 128 ? static_cast<double>(own) * 2.6 * (0.8 + 0.2 * busy) + first * 0.7 * busy
                                     : static_cast<double>(own) * 2.0;
                    double time = 6 + rounds * (1 + slabs_time) + (size == 1 ? 0 : width == 128 ? 4.5 : 2);
                    if (count > 1) time += 3 + results * static_cast<double>(2 * count + 1) * 4 / 3e6;
                    if (own > 128) time += 1e6; // only if there is no other way
                    if (best.columns == 0 || time < best.time) best = {width, tiles, size, count, transposed, time};
                    if (groups != 0 || count * 2 > slabs / size) break;
                }
            }
        }
    return best;
}

} // namespace matmul

#endif

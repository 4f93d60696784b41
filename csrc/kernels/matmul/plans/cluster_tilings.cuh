// How "split_inside" and "wgmma_split_k" divide their work among clusters: a search for the way with the shortest
// estimated time.
#ifndef CK_MATMUL_PLANS_CLUSTER_TILINGS_CUH
#define CK_MATMUL_PLANS_CLUSTER_TILINGS_CUH

#include "../launches/groups.cuh"

namespace matmul {

// The width of the tiles, their number, the blocks of a cluster, the clusters (groups) of a tile, and the side of C
// that lies along the tiles' columns.
struct cluster_tiling {
    int64_t columns, tiles, parts, groups;
    bool transposed;
    double time; // in microseconds
};

// What one such way asks of the chip.
struct cluster_load {
    int64_t columns;        // of the tiles
    bool transposed;        // C's columns are the rows of the tiles
    int64_t parts, groups;  // as above
    int64_t at_once;        // clusters that can run at once, if a multiprocessor has one block
    double clusters, share; // of the whole launch: how many, and their blocks for each multiprocessor
    double slabs;           // of each block
    double results;         // elements of C
};

// The way with the shortest `time_of(load)` among those that the call's parameters allow (tile, split, groups and
// side; 0: any). Tiles have 128 columns, 64, ..., no fewer than the least number. Each block of a group has at least
// so many slabs, where the groups are not given.
template <typename Time>
cluster_tiling shortest_tiling(const ck_call *call, int64_t rows_of_tile, int64_t least_columns, int64_t least_slabs,
                               int64_t groups, Time time_of) {
    const int64_t columns_of_tile = call->parameters[0], parts = call->parameters[1], side = call->parameters[3];
    const int64_t slabs = divide_up(inner(call), SLAB_DEPTH), all_products = products(call);
    const double results = static_cast<double>(all_results(call));
    cluster_tiling best = {};
    for (const bool transposed : {false, true})
        for (int64_t width = 128; width >= least_columns; width /= 2) {
            if (columns_of_tile != 0 && columns_of_tile != width) continue;
            if (side != 0 && side != (transposed ? 2 : 1)) continue;
            const int64_t down = transposed ? columns(call) : rows(call),
                          across = transposed ? rows(call) : columns(call);
            const int64_t tiles = product(divide_up(down, rows_of_tile), divide_up(across, width));
            for (int64_t size = 1; size <= MOST_PARTS; size *= 2) {
                if (parts != 0 ? parts != size : size > 1 && size > slabs) continue;
                const int64_t at_once = clusters_at_once(call, size);
                for (int64_t count = groups != 0 ? groups : 1;; count *= 2) {
                    const double own = static_cast<double>(divide_up(slabs, size * count));
                    const double clusters = static_cast<double>(product(product(tiles, all_products), count));
                    const double share = clusters * static_cast<double>(size) / call->limits->multiprocessors;
                    const double time = time_of(cluster_load{
                        width, transposed, size, count, at_once > 0 ? at_once : 1, clusters, share, own, results});
                    if (best.columns == 0 || time < best.time) best = {width, tiles, size, count, transposed, time};
                    if (groups != 0 || count * 2 * least_slabs > slabs / size) break;
                }
            }
        }
    return best;
}

} // namespace matmul

#endif

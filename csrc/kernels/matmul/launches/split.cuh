// The sizes of a call of "split_fp16" or "split_bf16", for its plan and its launches: the width of the tiles, how the
// clusters share them, and the layout of the workspace.
#ifndef CK_MATMUL_LAUNCHES_SPLIT_CUH
#define CK_MATMUL_LAUNCHES_SPLIT_CUH

#include "common.cuh"
#include "../ladder/32_split_bf16.cuh"

namespace matmul {

// The largest extents of C, and of k: coordinates have 32 bits, and so have the counts of a line.
enum : int64_t { SPLIT_MOST = INT32_MAX - 512, SPLIT_MOST_K = 1 << 24 };

// A width of tiles, with the time of a slab, fitted to an H200.
struct split_width {
    int columns;
    double slab; // in microseconds
};
constexpr split_width SPLIT_FP16_WIDTHS[] = {{208, 1.42}, {128, 0.95}, {64, 0.61}};
constexpr split_width SPLIT_BF16_WIDTHS[] = {{128, 1.95}, {64, 1.2}};

struct split_tiling {
    int columns;
    split_pairs all;
    double time; // estimated, in microseconds
};

// The clusters that run at the same time.
inline int64_t split_clusters(const ck_call *call) {
    const int64_t multiprocessors = call->limits->multiprocessors;
    return multiprocessors > SPLIT_PAIR ? multiprocessors / SPLIT_PAIR : 1;
}

// How clusters share the work: each has whole pairs of tiles; several have equal parts of each pair; or the last ones
// are cut into shares of equal length (split_shares.cuh).
enum split_sharing { SHARE_PAIRS = 1, SHARE_PARTS, SHARE_SLABS };

inline split_pairs split_pairs_of(int sharing, int64_t pairs, int64_t slabs, int64_t most) {
    // (One warp adds all parts of its 16 rows: more of them would take longer than computing them in fewer clusters.)
    const int64_t parts = pairs > 0 && most > pairs ? smaller(smaller(most / pairs, slabs), 12) : 1;
    if (parts == 1 && sharing == SHARE_PARTS) sharing = SHARE_PAIRS;
    // Each cluster shares less than two pairs.
    const int64_t whole = sharing == SHARE_PAIRS ? pairs : pairs > most ? (pairs / most - 1) * most : 0;
    const int64_t row = (pairs - whole) * slabs;
    const int64_t useful = sharing == SHARE_PAIRS ? pairs : sharing == SHARE_PARTS ? pairs * parts : row + whole;
    split_pairs all = {};
    all.clusters = static_cast<int>(useful < 1 ? 1 : smaller(useful, most));
    all.pairs = static_cast<int>(pairs), all.whole = static_cast<int>(whole), all.slabs = static_cast<int>(slabs);
    all.row = static_cast<unsigned>(row);
    return all;
}

// The estimated time of the product of the pieces, without that of its results. Each whole tile costs some time
// besides that of its slabs. Shares of equal length are in different places along k: if the pieces do not fit in the
// L2 cache, their slabs come from memory.
inline double time_of_split_pairs(const split_pairs &all, int sharing, const split_width &width, double piece_bytes) {
    const double clusters = all.clusters, slabs = all.slabs, row = all.row, columns = width.columns;
    const double time = ceil(all.whole / clusters) * (slabs * width.slab + 0.02 * columns);
    if (all.row == 0) return time;
    const double share = ceil(row / clusters), slab_bytes = (SPLIT_PAIR * SPLIT_ROWS + columns) * SLAB_BYTES * 2;
    const double beyond = sharing == SHARE_PARTS || piece_bytes < 40e6 ? 0
                          : piece_bytes < 80e6                         ? piece_bytes / 40e6 - 1
                                                                       : 1;
    const double compute = share * width.slab, read = row * slab_bytes * beyond / 5.7e6;
    return 1.06 * (time + (compute > read ? compute : read) + columns * (0.085 + 0.008 * slabs / share));
}

// The width and the sharing with the shortest estimated time. `tile` and `sharing`: the caller's choice, or 0.
template <int COUNT>
split_tiling split_tiling_of(const split_width (&widths)[COUNT], const ck_call *call, int64_t products, int64_t tile,
                             int64_t sharing) {
    const int64_t m = rows(call), n = columns(call), k = inner(call), slabs = k > 0 ? divide_up(k, SLAB_DEPTH) : 1;
    const int64_t most = split_clusters(call);
    const double piece_bytes =
        static_cast<double>(m + n) * static_cast<double>(k) * static_cast<double>(products) * 4;
    // Tiles of 208 columns have no second sum in registers (split_sums.cuh). For 16 to 31 slabs, theirs goes
    // through the workspace, which is slow. For 32 to 63 slabs, they have 0.3 to 0.4 of the error of sums in order,
    // which is more than that of a library that divides k, as it does for small results. For more slabs, they are
    // much faster.
    const bool needs_second_sum = slabs >= 16 && slabs < (product(m, n) < 1 << 24 ? 64 : 32);
    split_tiling best = {};
    best.time = -1;
    for (const split_width &width : widths) {
        if (tile != 0 ? tile != width.columns : width.columns > SECOND_SUM_COLUMNS && needs_second_sum) continue;
        const int64_t down = divide_up(m, SPLIT_PAIR * SPLIT_ROWS);
        const int64_t pairs = product(product(down, divide_up(n, width.columns)), products);
        for (const int way : {SHARE_PAIRS, SHARE_PARTS, SHARE_SLABS}) {
            if (sharing != 0 && sharing != way) continue;
            const split_pairs all = split_pairs_of(way, pairs, slabs, most);
            const double time = time_of_split_pairs(all, way, width, piece_bytes);
            if (best.time < 0 || time < best.time) best = {width.columns, all, time};
        }
    }
    return best;
}

// Those of some products of a stack.
inline split_tiling split_fp16_tiling(const ck_call *call, int64_t products) {
    return split_tiling_of(SPLIT_FP16_WIDTHS, call, products, call->parameters[0], call->parameters[1]);
}
// `chosen`: whether the caller's parameters are those of "split_bf16".
inline split_tiling split_bf16_tiling(const ck_call *call, int64_t products, bool chosen) {
    return split_tiling_of(SPLIT_BF16_WIDTHS, call, products, chosen ? call->parameters[0] : 0,
                           chosen ? call->parameters[1] : 0);
}

// The offsets of the parts of the workspace for a number of products, in bytes. The sums of parts of tiles are behind
// them.
struct split_workspace {
    struct {
        int64_t pieces, factors;
    } side[2];
    int64_t findings, arrivals, sums;
};

inline int64_t split_pitch(const ck_call *call) {
    return divide_up(inner(call), 64) * 64; // whole lines of 128 bytes
}

// The arrivals of clusters, and behind them those of the warps that share a tile.
inline int64_t split_arrivals(const split_pairs &all) {
    return 1 + static_cast<int64_t>(all.pairs - all.whole) * SPLIT_PAIR * SPLIT_WARPS;
}

inline split_workspace split_workspace_of(const ck_call *call, int64_t products) {
    const int64_t pieces = split_kind<__nv_bfloat16>::PIECES, blocks = divide_up(inner(call), SPLIT_DEPTH);
    split_workspace at = {};
    const auto take = [&](int64_t count, int64_t bytes) {
        const int64_t begin = at.sums;
        at.sums += divide_up(product(count, bytes), 256) * 256;
        return begin;
    };
    at.findings = take(products, 4);
    at.arrivals = take(1 + 2 * split_clusters(call) * SPLIT_PAIR * SPLIT_WARPS, 4); // less than two pairs each
    for (int i = 0; i < 2; ++i) {
        const int64_t groups = product(divide_up(i == 0 ? rows(call) : columns(call), SPLIT_LINES), products);
        at.side[i].pieces = take(product(groups, SPLIT_LINES), product(split_pitch(call), 2 * pieces));
        at.side[i].factors = take(groups, product(blocks, 4));
    }
    return at;
}

// The number of products of a stack that are computed at once: one, or as many as fit in 1 GiB, without the sums of
// parts.
inline int64_t split_products_at_once(const ck_call *call) {
    const int64_t fit = (int64_t{1} << 30) / (split_workspace_of(call, 1).sums + 1), most = 32768;
    return smaller(products(call), fit < 1 ? 1 : smaller(fit, most));
}

// The bytes of the sums: two parts of tiles for each cluster, and a third one if they are carried on. A stack may be
// computed in portions of other numbers of products, so that there it is the most that any of them needs.
inline int64_t split_sums_bytes(const ck_call *call, const split_tiling &tiling, bool fp16) {
    const bool stack = products(call) > 1;
    const int64_t columns = stack ? (fp16 ? SPLIT_FP16_WIDTHS : SPLIT_BF16_WIDTHS)[0].columns : tiling.columns;
    const bool carried = columns > SECOND_SUM_COLUMNS && wide_group_slabs(tiling.all.slabs) < tiling.all.slabs;
    const bool shared = stack ? tiling.all.slabs > 1 : tiling.all.whole < tiling.all.pairs;
    const int64_t clusters = stack ? split_clusters(call) : tiling.all.clusters;
    return static_cast<int64_t>(carried ? 3 : shared ? 2 : 0) * clusters * SPLIT_PAIR * SPLIT_ROWS * columns * 4;
}

// The pieces of a product, and its operands.
typedef int run_split_product_of(const split_operands &split, const split_product_operands &op,
                                 const ck_context *context, ck_error *error);
run_split_product_of run_split_fp16_208, run_split_fp16_128, run_split_fp16_64, run_split_bf16_128,
    run_split_bf16_64; // split_product.cu

} // namespace matmul

#endif

// The plan of "warp_tiles_split", and how long it takes.
#ifndef CK_MATMUL_WARP_TILES_PLANS_CUH
#define CK_MATMUL_WARP_TILES_PLANS_CUH

#include "plans.cuh"

namespace matmul {

// The parts of k and groups with the shortest estimated time (in microseconds, fitted to an H200), unless the caller
// chooses. A step of k takes 34 ns, and less where several blocks share a multiprocessor. Groups of clusters cost a
// second launch, so they need a long k.
struct k_parts {
    int64_t tiles, parts, groups; // of one product; in each tile; in each tile
    double time;
};
inline k_parts parts_of_warp_tiles(const ck_call *call, int64_t parts, int64_t groups) {
    using size = warp_tiles_small;
    const int64_t slabs = divide_up(inner(call), size::DEPTH), at_once = call->limits->multiprocessors;
    const int64_t tiles = product(divide_up(rows(call), size::ROWS), divide_up(columns(call), size::COLUMNS));
    const int64_t all = product(tiles, products(call));
    const double results = static_cast<double>(product(product(rows(call), columns(call)), products(call)));
    const double read =
        static_cast<double>(product(product(rows(call) + columns(call), inner(call)), products(call)));
    if (products(call) > call->limits->max_grid[2]) groups = 1; // the sums of groups need all products in one launch
    k_parts best = {};
    for (int64_t own = 1; own <= MOST_PARTS; own *= 2) {
        if (parts != 0 ? own != parts : own > 1 && own > slabs) continue;
        for (int64_t count = groups != 0 ? groups : 1;; count *= 2) {
            const double rounds = static_cast<double>(divide_up(product(all, own * count), at_once));
            const double steps = static_cast<double>(divide_up(slabs, own * count) * size::DEPTH);
            double time = 6 + read * 4 / 4.5e6 + rounds * (1.1 + steps * (rounds > 2 ? 0.0265 : 0.034));
            if (count > 1) time += 3 + results * static_cast<double>(2 * count + 1) * 4 / 3e6;
            if (best.parts == 0 || time < best.time) best = {tiles, own, count, time};
            if (groups != 0 || count * 2 > slabs / own / 16) break;
        }
    }
    return best;
}

inline int plan_warp_tiles_split(const ck_call *call, ck_plan *plan, ck_error *error) {
    using size = warp_tiles_small;
    const auto [tiles, parts, groups, time] = parts_of_warp_tiles(call, call->parameters[0], call->parameters[1]);
    CK_TRY(plan_tiles(call, plan, error, size::ROWS, size::COLUMNS, size::THREADS));
    const int64_t blocks = product(tiles, parts * groups);
    if (blocks > call->limits->max_grid[0])
        return ck_fail(error, CK_BAD_VALUE, "the result needs %lld blocks, but this device allows at most %lld",
                       static_cast<long long>(blocks), static_cast<long long>(call->limits->max_grid[0]));
    for (int view = 0; view < 3; ++view) plan->layout[view].contiguous = axes_of<uint8_t>(call).count > STACK_AXES;
    if (!empty(call)) plan->grid[0] = static_cast<unsigned>(blocks);
    plan->shared_bytes = size::SHARED_BYTES;
    plan->layout[0].pitch = plan->layout[1].pitch = 4;
    plan_groups(call, plan, groups);
    return CK_OK;
}

} // namespace matmul

#endif

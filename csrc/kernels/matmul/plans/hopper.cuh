// The plans of the variants on Hopper's wgmma: in addition to those of plans.cuh, tensor maps for TMA, and a grid of
// as many blocks as run at once.
#ifndef CK_MATMUL_PLANS_HOPPER_CUH
#define CK_MATMUL_PLANS_HOPPER_CUH

#include <initializer_list>

#include "../ladder/22_wgmma_tiles.cuh"
#include "../ladder/23_wgmma_producer.cuh"
#include "../ladder/24_wgmma_persistent.cuh"
#include "../ladder/25_wgmma_multicast.cuh"
#include "wgmma_groups.cuh"
#include "wgmma_split_k.cuh"
#include "../ladder/30_wgmma_tf32.cuh"

#include "cores.cuh"

namespace matmul {

// Kernels whose operands come by TMA, in boxes of 64 elements along k (or along the other axis, where that is the
// contiguous one).
template <typename Size> int plan_boxes(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_size<Size>(call, plan, error));
    const int64_t most = INT32_MAX - 256; // coordinates have 32 bits, also those of the last tile's end
    if (rows(call) > most || columns(call) > most || inner(call) > most || products(call) > most)
        return ck_fail(error, CK_BAD_VALUE,
                       "m, n, k and the number of products must be at most %lld for this variant",
                       static_cast<long long>(most));
    const bool too_many_axes = axes_of<uint8_t>(call).count > STACK_AXES;
    for (int view = 0; view < 3; ++view) plan->layout[view].contiguous = too_many_axes;
    for (int view = 0; view < 2; ++view) plan->layout[view].pitch = 16, plan->layout[view].boxed = 1;
    plan->bindings[0] = ck_bind_tensor_map({64, Size::ROWS, 64, 128}, 0);
    plan->bindings[1] = ck_bind_tensor_map({64, 64, Size::COLUMNS, 128}, 1);
    return CK_OK;
}
constexpr auto plan_wgmma_tiles = plan_boxes<wgmma_tiles_size>;
constexpr auto plan_wgmma_producer = plan_boxes<wgmma_producer_size>;

// TMA stores the results if it can address C; otherwise the threads do.
inline void plan_stored_boxes(const ck_call *call, ck_plan *plan) {
    const ck_view &c = call->views[2];
    if (stride(c, 1) != 2 || stride(c, 2) % 16 != 0) return;
    plan->layout[2].pitch = 16, plan->layout[2].boxed = 1;
    plan->bindings[2] = ck_bind_tensor_map({64, 64, 64, 128}, 2);
}

// The width of the tiles with the shortest time, unless the caller chooses: each of the blocks (or clusters) that run
// at once computes a tile in each round, and the time of a round is taken to be proportional to the columns of a tile
// plus 32.
template <typename Count>
int64_t width_of_tiles(int64_t choice, int64_t at_once, std::initializer_list<int64_t> widths, Count tiles_of_width) {
    if (choice != 0) return choice;
    int64_t best = 0, least = 0;
    for (const int64_t width : widths) {
        const int64_t time = product(divide_up(tiles_of_width(width), at_once > 0 ? at_once : 1), width + 32);
        if (best == 0 || time < least) best = width, least = time;
    }
    return best;
}

// A block per multiprocessor, which computes tiles of 128 rows.
inline int64_t tiles_of_wgmma(const ck_call *call, int64_t width) {
    return product(product(divide_up(rows(call), 128), divide_up(columns(call), width)), products(call));
}
inline int64_t persistent_width(const ck_call *call) {
    return width_of_tiles(call->parameters[0], call->limits->multiprocessors, {256, 192, 128, 64},
                          [&](int64_t width) { return tiles_of_wgmma(call, width); });
}
inline void plan_persistent_grid(const ck_call *call, ck_plan *plan) {
    const int64_t blocks = smaller(product(plan->grid[0], products(call)), call->limits->multiprocessors);
    plan->grid[0] = static_cast<unsigned>(blocks > 0 ? blocks : 1);
    plan->grid[2] = 1;
}

inline int plan_halves(int64_t width, const ck_call *call, ck_plan *plan, ck_error *error) {
    const auto plan_width = width == 256   ? plan_boxes<wgmma_persistent_256>
                            : width == 192 ? plan_boxes<wgmma_persistent_192>
                            : width == 128 ? plan_boxes<wgmma_persistent_128>
                                           : plan_boxes<wgmma_persistent_64>;
    CK_TRY(plan_width(call, plan, error));
    plan_stored_boxes(call, plan);
    return CK_OK;
}
inline int plan_wgmma_persistent(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_halves(persistent_width(call), call, plan, error));
    plan_persistent_grid(call, plan);
    return CK_OK;
}

// The same for pairs of tiles, which lie side by side where they have 64 columns.
inline int64_t pairs_of_wgmma(const ck_call *call, int64_t width) {
    const int64_t down = divide_up(rows(call), width == 64 ? 128 : 256);
    return product(product(down, divide_up(columns(call), width == 64 ? 128 : width)), products(call));
}
inline int64_t width_of_pairs(const ck_call *call, std::initializer_list<int64_t> widths) {
    return width_of_tiles(call->parameters[0], call->limits->multiprocessors / PAIR, widths,
                          [&](int64_t width) { return pairs_of_wgmma(call, width); });
}
inline int64_t multicast_width(const ck_call *call) {
    return width_of_pairs(call, {256, 192, 128, 64});
}
inline void plan_grid_of_pairs(int64_t pairs, const ck_call *call, ck_plan *plan) {
    const int64_t clusters = smaller(pairs, call->limits->multiprocessors / PAIR);
    plan->grid[0] = static_cast<unsigned>(PAIR * (clusters > 0 ? clusters : 1));
    plan->grid[2] = 1;
}
// What one block copies is half of what both need: of B, half of the boxes or, where there are three (192 columns),
// 32 of the 64 elements along k of each.
inline void plan_halves_of_boxes(int64_t width, ck_plan *plan) {
    const int columns_of_part = static_cast<int>(width) / PAIR;
    if (width == 64)
        plan->bindings[0] = ck_bind_tensor_map({64, 128 / PAIR, 64, 128}, 0);
    else
        plan->bindings[1] =
            ck_bind_tensor_map({64, columns_of_part % 64 == 0 ? 64 : 64 / PAIR, columns_of_part, 128}, 1);
}
inline int plan_wgmma_multicast(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t width = multicast_width(call);
    CK_TRY(plan_halves(width, call, plan, error));
    plan_halves_of_boxes(width, plan);
    plan_grid_of_pairs(pairs_of_wgmma(call, width), call, plan);
    return CK_OK;
}
inline int plan_wgmma_groups(const ck_call *call, ck_plan *plan, ck_error *error) {
    using size = wgmma_groups_size;
    const wgmma_groups_tiling tiling = wgmma_groups_of(call);
    const int64_t parts = product(tiling.pairs, tiling.groups), most = INT32_MAX / 2;
    CK_TRY(plan_boxes<size>(call, plan, error));
    if (parts > most)
        return ck_fail(error, CK_BAD_VALUE,
                       "the result has %lld parts of pairs of tiles, but at most %lld are possible",
                       static_cast<long long>(parts), static_cast<long long>(most));
    plan_halves_of_boxes(size::COLUMNS, plan);
    plan_grid_of_pairs(parts, call, plan);
    return plan_groups(call, plan, error, tiling.groups);
}

// Operands that wgmma reads along k alone: 128 bytes of each row of A and of each column of B. What one block copies
// is half of what both need.
template <typename Size> int plan_along_k(const ck_call *call, ck_plan *plan, ck_error *error) {
    constexpr bool SHARE_A = SIDE_BY_SIDE<Size>;
    constexpr int A_LINES = Size::ROWS / (SHARE_A ? PAIR : 1), B_LINES = Size::COLUMNS / (SHARE_A ? 1 : PAIR);
    CK_TRY(plan_boxes<Size>(call, plan, error));
    const int depth = SLAB_BYTES / static_cast<int>(ck_dtype_size(call->types.input));
    plan->layout[0].lines = CK_ROWS, plan->layout[1].lines = CK_COLUMNS;
    plan->bindings[0] = ck_bind_tensor_map({depth, A_LINES, A_LINES, 128}, 0);
    plan->bindings[1] = ck_bind_tensor_map({depth, B_LINES, B_LINES, 128}, 1);
    plan_grid_of_pairs(pairs_of_wgmma(call, Size::COLUMNS), call, plan);
    return CK_OK;
}
inline int64_t width_along_k(const ck_call *call) {
    return width_of_pairs(call, {256, 128, 64});
}
inline int plan_wgmma_along_k(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t width = width_along_k(call);
    const auto plan_width = width == 256   ? plan_along_k<wgmma_along_k_256>
                            : width == 128 ? plan_along_k<wgmma_along_k_128>
                                           : plan_along_k<wgmma_along_k_64>;
    return plan_width(call, plan, error);
}
constexpr auto plan_wgmma_tf32 = plan_wgmma_along_k;
constexpr auto plan_wgmma_int8 = plan_wgmma_along_k;

inline int plan_wgmma_split_k(const ck_call *call, ck_plan *plan, ck_error *error) {
    const cluster_tiling tiling = wgmma_split_tiling_of(call);
    CK_TRY((tiling.columns == 128 ? plan_boxes<wgmma_split_k_128> : plan_boxes<wgmma_split_k_64>)(call, plan, error));
    const int64_t blocks = product(product(tiling.tiles, products(call)), tiling.parts * tiling.groups);
    if (blocks > call->limits->max_grid[0])
        return ck_fail(error, CK_BAD_VALUE, "the result needs %lld blocks, but this device allows at most %lld",
                       static_cast<long long>(blocks), static_cast<long long>(call->limits->max_grid[0]));
    plan->grid[0] = static_cast<unsigned>(blocks > 0 ? blocks : 1);
    plan->grid[2] = 1;
    if (tiling.transposed) { // B has the rows of a tile, and A its columns
        const int width = static_cast<int>(tiling.columns);
        plan->bindings[0] = ck_bind_tensor_map({64, 64, wgmma_split_k_64::ROWS, 128}, 1);
        plan->bindings[1] = ck_bind_tensor_map({64, width, 64, 128}, 0);
    }
    return plan_groups(call, plan, error, tiling.groups);
}

} // namespace matmul

#endif

// The plans of the variants on CUDA cores and of those on tensor cores through mma.sync: the grid, the block, the
// shared memory and the layout of the operands. The plans of the variants on wgmma are in hopper.cuh.
#ifndef CK_MATMUL_PLANS_CORES_CUH
#define CK_MATMUL_PLANS_CORES_CUH

#include "../ladder/01_naive.cuh"
#include "../ladder/03_shared_row.cuh"
#include "../ladder/04_pitched.cuh"
#include "../ladder/10_naive_2d.cuh"
#include "../ladder/12_column_tile.cuh"
#include "../ladder/13_register_tile.cuh"
#include "../ladder/14_vectorized.cuh"
#include "../ladder/15_double_buffered.cuh"
#include "../ladder/17_small_tiles.cuh"
#include "../ladder/18_warp_tiles_split_k.cuh"
#include "../ladder/20_tensor_cores.cuh"

#include "../launches/groups.cuh"
#include "few_rows.cuh"

namespace matmul {

inline bool shapes_fit(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    if (a.ndim < 2 || b.ndim != a.ndim || c.ndim != a.ndim) return false;
    for (int axis = 3; axis <= a.ndim; ++axis)
        if (length(b, axis) != length(a, axis) || length(c, axis) != length(a, axis)) return false;
    return length(b, 2) == inner(call) && length(c, 2) == rows(call) && length(c, 1) == columns(call);
}

// For an empty C nothing is launched, but the plan has a grid of one block, for reports.
inline int plan_grid(const ck_call *call, ck_plan *plan, ck_error *error, int64_t grid_x, int64_t grid_y, int block_x,
                     int block_y) {
    *plan = ck_plan{};
    if (!shapes_fit(call))
        return ck_fail(error, CK_BAD_VALUE,
                       "the shapes do not match: the product of (..., m, k) and (..., k, n) is (..., m, n)");
    const int64_t *most = call->limits->max_grid;
    int64_t grid_z = products(call);
    if (empty(call)) grid_x = grid_y = grid_z = 1;
    if (grid_x > most[0])
        return ck_fail(error, CK_BAD_VALUE,
                       "a %lld x %lld result needs a grid of %lld blocks in x, but this device allows at most %lld",
                       static_cast<long long>(rows(call)), static_cast<long long>(columns(call)),
                       static_cast<long long>(grid_x), static_cast<long long>(most[0]));
    plan->grid[0] = static_cast<unsigned>(grid_x);
    plan->grid[1] = static_cast<unsigned>(smaller(grid_y, most[1])); // the rest is computed by further launches
    plan->grid[2] = static_cast<unsigned>(smaller(grid_z, most[2]));
    plan->block[0] = static_cast<unsigned>(block_x);
    plan->block[1] = static_cast<unsigned>(block_y);
    plan->block[2] = 1;
    return CK_OK;
}

inline int plan_naive(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_grid(call, plan, error, divide_up(product(rows(call), columns(call)), FLAT_THREADS), 1, FLAT_THREADS,
                     1);
}
constexpr auto plan_kahan = plan_naive;

// The number of elements of a row of A that a block keeps in shared memory.
inline int64_t row_segment(const ck_call *call) {
    const int64_t room = static_cast<int64_t>(call->limits->shared_per_block / ck_dtype_size(call->types.input));
    return smaller(inner(call), room);
}

inline int plan_shared_row(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_grid(call, plan, error, rows(call), 1, ROW_THREADS, 1));
    // Rounded up to 16 bytes: nvcc reads the row four words at a time, even if fewer remain at the end.
    const int64_t bytes = row_segment(call) * static_cast<int64_t>(ck_dtype_size(call->types.input));
    plan->shared_bytes = static_cast<size_t>(divide_up(bytes, 16) * 16);
    return CK_OK;
}

inline int plan_pitched(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_shared_row(call, plan, error));
    pad_rows_to_the_pitch(plan);
    return CK_OK;
}

inline int plan_squares(const ck_call *call, ck_plan *plan, ck_error *error, int side) {
    return plan_grid(call, plan, error, divide_up(columns(call), side), divide_up(rows(call), side), side, side);
}
inline int plan_tiled(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_squares(call, plan, error, static_cast<int>(call->parameters[0]));
}
constexpr auto plan_tiled_plain = plan_tiled;

inline int plan_tiled_padded(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_tiled(call, plan, error));
    for (int view = 0; view < 3; ++view)
        plan->layout[view].row_multiple = plan->layout[view].column_multiple = static_cast<int>(call->parameters[0]);
    return CK_OK;
}

inline int plan_naive_2d(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_squares(call, plan, error, SQUARE);
}

// A one-dimensional grid with a block per tile of C (block_tile.cuh).
inline int plan_tiles(const ck_call *call, ck_plan *plan, ck_error *error, int rows_of_tile, int columns_of_tile,
                      int threads) {
    const int64_t tiles = product(divide_up(rows(call), rows_of_tile), divide_up(columns(call), columns_of_tile));
    return plan_grid(call, plan, error, tiles, 1, threads, 1);
}

template <typename Size> int plan_squares_of(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_tiles(call, plan, error, Size::SIDE, Size::SIDE, Size::THREADS);
}
constexpr auto plan_column_tile = plan_squares_of<column_tile_size>;
constexpr auto plan_register_tile = plan_squares_of<register_tile_size>;
constexpr auto plan_vectorized = plan_squares_of<vectorized_size>;

// Kernels that copy single elements along contiguous rows or columns.
inline int plan_double_buffered(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_squares_of<double_buffered_size>(call, plan, error));
    plan->layout[0].pitch = plan->layout[1].pitch = static_cast<int>(ck_dtype_size(call->types.input));
    return CK_OK;
}

template <typename Size> int plan_size(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_tiles(call, plan, error, Size::ROWS, Size::COLUMNS, Size::THREADS));
    plan->shared_bytes = Size::SHARED_BYTES;
    return CK_OK;
}

// Large tiles if that gives every multiprocessor a block or more, and they do not cover over 1.5
// times as much as small ones, unless the caller chooses.
template <typename Large, typename Small>
int plan_large_or_small(const ck_call *call, ck_plan *plan, ck_error *error) {
    const auto tiles_of = [&](auto size) {
        using type = decltype(size);
        return product(product(divide_up(rows(call), type::ROWS), divide_up(columns(call), type::COLUMNS)),
                       products(call));
    };
    const int64_t tiles = tiles_of(Large{}), choice = call->parameters[0]; // of TILE_SIZE
    const double more = static_cast<double>(tiles) * Large::ROWS * Large::COLUMNS /
                        (static_cast<double>(tiles_of(Small{})) * Small::ROWS * Small::COLUMNS);
    const bool large = choice == 0 ? tiles >= call->limits->multiprocessors && more <= 1.5 : choice == 128;
    return (large ? plan_size<Large> : plan_size<Small>)(call, plan, error);
}
template <typename Large, typename Small, int PITCH>
int plan_copies(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY((plan_large_or_small<Large, Small>(call, plan, error)));
    plan->layout[0].pitch = plan->layout[1].pitch = PITCH; // bytes that a copy moves
    return CK_OK;
}
constexpr auto plan_warp_tiles = plan_copies<warp_tiles_large, warp_tiles_small, 4>;
constexpr auto plan_tensor_cores = plan_copies<tensor_cores_large, tensor_cores_small, 16>;

inline int plan_small_tiles(const ck_call *call, ck_plan *plan, ck_error *error) {
    using size = small_tiles_size;
    CK_TRY(plan_tiles(call, plan, error, size::ROWS, size::COLUMNS, size::THREADS));
    plan->layout[0].pitch = plan->layout[1].pitch = 4; // bytes: a copy moves 16 if it can
    return CK_OK;
}

// Workspace for the sums of the parts of k, whichever kernel it will be.
inline int plan_few_rows(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t m = rows(call), n = columns(call), lines = m > n ? m : n, few = m > n ? n : m;
    if (!few_rows_can(m, n, inner(call)))
        return ck_fail(error, CK_BAD_VALUE, "m, n and k must be at most %lld for this variant",
                       static_cast<long long>(FEW_LONGEST));
    const size_t item = ck_dtype_size(call->types.input);
    int64_t most = 0;
    // (The kernel for operands in C order comes last: the plan's grid is for reports.)
    for (const bool along_k : {m <= n, m > n}) {
        const few_grid own =
            few_grid_of(few, lines, along_k, item, inner(call), products(call), call->limits->multiprocessors);
        CK_TRY(plan_grid(call, plan, error, own.blocks, 1, own.threads, 1));
        most = own.parts > most ? own.parts : most;
    }
    for (int view = 0; view < 3; ++view) plan->layout[view].contiguous = axes_of<uint8_t>(call).count > STACK_AXES;
    // (The sums of groups need all products in one launch.)
    return products(call) <= call->limits->max_grid[2] ? plan_groups(call, plan, error, most) : CK_OK;
}

} // namespace matmul

#endif

// matmul: C = A * B for two matrices, or for stacks of them. The plans and the table of the ladders; each kernel is in
// a file of its own, and the launches are in launches.cuh.
//
// Begin with naive.cuh and follow the table. Views: the last two axes are the matrices; A is m x k, B is k x n, C is m
// x n. The axes before them are those of the stack, with equal lengths in all views (a broadcast axis has stride 0).
// Strides may have any value.
#include "naive.cuh"
#include "kahan.cuh"
#include "shared_row.cuh"
#include "pitched.cuh"
#include "tiled_padded.cuh"
#include "naive_2d.cuh"
#include "tiled_plain.cuh"
#include "column_tile.cuh"
#include "register_tile.cuh"
#include "vectorized.cuh"
#include "double_buffered.cuh"
#include "warp_tiles.cuh"
#include "tensor_cores.cuh"
#include "tensor_cores_double.cuh"
#include "wgmma_tiles.cuh"
#include "wgmma_producer.cuh"
#include "wgmma_persistent.cuh"
#include "wgmma_multicast.cuh"
#include "wgmma_split.cuh"
#include "wgmma_tf32.cuh"
#include "wgmma_int8.cuh"
#include "split_launches.cuh"

#include "launches.cuh"
#include "../table.h"

namespace matmul {

ck_run run_naive, run_tiled_integers, run_tiled_floats; // naive.cu, tiled_integers.cu, tiled_floats.cu
ck_run run_column_tile, run_register_tile, run_vectorized, run_double_buffered;        // register_tiles.cu
ck_run run_warp_tiles;                                                                 // warp_tiles.cu
ck_run run_wgmma_tiles, run_wgmma_producer, run_wgmma_persistent, run_wgmma_multicast; // wgmma.cu
ck_run run_wgmma_split;                                                                // wgmma_split.cu
ck_run run_wgmma_tf32, run_wgmma_int8;                                                 // wgmma_along_k.cu
ck_run run_split_fp16, run_split_bf16;                                                 // split.cu
ck_run run_tensor_cores, run_tensor_cores_double;                                      // tensor_cores.cu

namespace {

// --- plans

bool shapes_fit(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    if (a.ndim < 2 || b.ndim != a.ndim || c.ndim != a.ndim) return false;
    for (int axis = 3; axis <= a.ndim; ++axis)
        if (length(b, axis) != length(a, axis) || length(c, axis) != length(a, axis)) return false;
    return length(b, 2) == inner(call) && length(c, 2) == rows(call) && length(c, 1) == columns(call);
}

// For an empty C nothing is launched, but the plan has a grid of one block, for reports.
int plan_grid(const ck_call *call, ck_plan *plan, ck_error *error, int64_t grid_x, int64_t grid_y, int block_x,
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

int plan_naive(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_grid(call, plan, error, divide_up(product(rows(call), columns(call)), FLAT_THREADS), 1, FLAT_THREADS,
                     1);
}
constexpr auto plan_kahan = plan_naive;

// The number of elements of a row of A that a block keeps in shared memory.
int64_t row_segment(const ck_call *call) {
    const int64_t room = static_cast<int64_t>(call->limits->shared_per_block / ck_dtype_size(call->types.input));
    return smaller(inner(call), room);
}

int plan_shared_row(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_grid(call, plan, error, rows(call), 1, ROW_THREADS, 1));
    // Rounded up to 16 bytes: nvcc reads the row four words at a time, even if fewer remain at the end.
    const int64_t bytes = row_segment(call) * static_cast<int64_t>(ck_dtype_size(call->types.input));
    plan->shared_bytes = static_cast<size_t>(divide_up(bytes, 16) * 16);
    return CK_OK;
}

int plan_pitched(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_shared_row(call, plan, error));
    pad_rows_to_the_pitch(plan);
    return CK_OK;
}

int plan_squares(const ck_call *call, ck_plan *plan, ck_error *error, int side) {
    return plan_grid(call, plan, error, divide_up(columns(call), side), divide_up(rows(call), side), side, side);
}
int plan_tiled(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_squares(call, plan, error, static_cast<int>(call->parameters[0]));
}
constexpr auto plan_tiled_plain = plan_tiled;

int plan_tiled_padded(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_tiled(call, plan, error));
    for (int view = 0; view < 3; ++view)
        plan->layout[view].row_multiple = plan->layout[view].column_multiple = static_cast<int>(call->parameters[0]);
    return CK_OK;
}

int plan_naive_2d(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_squares(call, plan, error, SQUARE);
}

// A one-dimensional grid with a block per tile of C (block_tile.cuh).
int plan_tiles(const ck_call *call, ck_plan *plan, ck_error *error, int rows_of_tile, int columns_of_tile,
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
int plan_double_buffered(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_squares_of<double_buffered_size>(call, plan, error));
    plan->layout[0].pitch = plan->layout[1].pitch = static_cast<int>(ck_dtype_size(call->types.input));
    return CK_OK;
}

template <typename Size> int plan_size(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_tiles(call, plan, error, Size::ROWS, Size::COLUMNS, Size::THREADS));
    plan->shared_bytes = Size::SHARED_BYTES;
    return CK_OK;
}

// Large tiles if that gives every multiprocessor a block or more, unless the caller chooses.
template <typename Large, typename Small>
int plan_large_or_small(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t tiles = product(
        product(divide_up(rows(call), Large::ROWS), divide_up(columns(call), Large::COLUMNS)), products(call));
    const int64_t choice = call->parameters[0]; // of TILE_SIZE
    const bool large = choice == 0 ? tiles >= call->limits->multiprocessors : choice == 128;
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
constexpr auto plan_tensor_cores_double = plan_copies<tensor_cores_double_large, tensor_cores_double_small, 8>;

// Kernels whose operands come by TMA, in boxes of 64 elements along k (or along the other axis, where that is the contiguous one).
template <typename Size> int plan_boxes(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_size<Size>(call, plan, error));
    const int64_t most = INT32_MAX - Size::COLUMNS; // coordinates have 32 bits
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

// The same, but wgmma reads these operands along k alone: 128 bytes of each row of A and of each column of B.
template <typename Size> int plan_along_k(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_boxes<Size>(call, plan, error));
    const int depth = SLAB_BYTES / static_cast<int>(ck_dtype_size(call->types.input));
    plan->layout[0].lines = CK_ROWS, plan->layout[1].lines = CK_COLUMNS;
    plan->bindings[0] = ck_bind_tensor_map({depth, Size::ROWS, Size::ROWS, 128}, 0);
    plan->bindings[1] = ck_bind_tensor_map({depth, Size::COLUMNS, Size::COLUMNS, 128}, 1);
    return CK_OK;
}

// TMA stores the results if it can address C; otherwise the threads do.
void plan_stored_boxes(const ck_call *call, ck_plan *plan) {
    const ck_view &c = call->views[2];
    if (stride(c, 1) != 2 || stride(c, 2) % 16 != 0) return;
    plan->layout[2].pitch = 16, plan->layout[2].boxed = 1;
    plan->bindings[2] = ck_bind_tensor_map({64, 64, 64, 128}, 2);
}

int plan_width(int64_t width, const ck_call *call, ck_plan *plan, ck_error *error) {
    const auto plan_tiles_of = width == 256   ? plan_boxes<wgmma_persistent_256>
                               : width == 128 ? plan_boxes<wgmma_persistent_128>
                                              : plan_boxes<wgmma_persistent_64>;
    return plan_tiles_of(call, plan, error);
}

// A block per multiprocessor, which computes tiles of 128 rows: the widest that give every multiprocessor one, unless the caller
// chooses.
int plan_persistent(const ck_call *call, ck_plan *plan, ck_error *error, ck_plan_of *plan_256, ck_plan_of *plan_128,
                    ck_plan_of *plan_64) {
    const auto blocks_of = [&](int64_t columns_of_tile) {
        return product(product(divide_up(rows(call), 128), divide_up(columns(call), columns_of_tile)),
                       products(call));
    };
    int64_t width = call->parameters[0];
    if (width == 0) width = 256;
    while (call->parameters[0] == 0 && width > 64 && blocks_of(width) < call->limits->multiprocessors) width /= 2;
    CK_TRY((width == 256 ? plan_256 : width == 128 ? plan_128 : plan_64)(call, plan, error));
    const int64_t blocks = smaller(product(plan->grid[0], products(call)), call->limits->multiprocessors);
    plan->grid[0] = static_cast<unsigned>(blocks > 0 ? blocks : 1);
    plan->grid[2] = 1;
    return CK_OK;
}

int plan_wgmma_along_k(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_persistent(call, plan, error, plan_along_k<wgmma_along_k_256>, plan_along_k<wgmma_along_k_128>,
                           plan_along_k<wgmma_along_k_64>);
}
constexpr auto plan_wgmma_tf32 = plan_wgmma_along_k;
constexpr auto plan_wgmma_int8 = plan_wgmma_along_k;

int plan_wgmma_persistent(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_persistent(call, plan, error, plan_boxes<wgmma_persistent_256>, plan_boxes<wgmma_persistent_128>,
                           plan_boxes<wgmma_persistent_64>));
    plan_stored_boxes(call, plan);
    return CK_OK;
}

// The same for pairs of tiles, which lie side by side where they have 64 columns.
int plan_wgmma_multicast(const ck_call *call, ck_plan *plan, ck_error *error) {
    const auto pairs_of = [&](int64_t width) {
        const int64_t down = divide_up(rows(call), width == 64 ? 128 : 256);
        return product(product(down, divide_up(columns(call), width == 64 ? 128 : width)), products(call));
    };
    const int64_t most = call->limits->multiprocessors / PAIR;
    int64_t width = call->parameters[0];
    if (width == 0) width = 256;
    while (call->parameters[0] == 0 && width > 64 && pairs_of(width) < most) width /= 2;
    CK_TRY(plan_width(width, call, plan, error));
    // What one block copies is half of what both need.
    if (width == 64)
        plan->bindings[0] = ck_bind_tensor_map({64, 128 / PAIR, 64, 128}, 0);
    else
        plan->bindings[1] = ck_bind_tensor_map({64, 64, static_cast<int>(width) / PAIR, 128}, 1);
    const int64_t pairs = smaller(pairs_of(width), most), blocks = PAIR * (pairs > 0 ? pairs : 1);
    plan->grid[0] = static_cast<unsigned>(blocks);
    plan->grid[2] = 1;
    plan_stored_boxes(call, plan);
    return CK_OK;
}

// Clusters of `size` blocks that can run at once. Not every part of the chip has a multiple of four or eight multiprocessors: of an H200's
// 132, 30 clusters of four or 14 of eight run at once (measured).
int64_t clusters_at_once(const ck_call *call, int64_t size) {
    const int64_t even = call->limits->multiprocessors / size;
    return even - (size > 2 ? even * size / 64 : 0);
}

// As many parts of k as can run at once, with at least 16 slabs each, unless the caller chooses. Narrow tiles need fewer parts; wide
// ones read less, which decides where k is long. Groups of clusters cost a second launch, so they need a very long k.
int plan_wgmma_split(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t slabs = divide_up(inner(call), SLAB_DEPTH), long_k = 16384;
    int64_t width = call->parameters[0], parts = call->parameters[1], groups = call->parameters[2];
    if (width == 0) width = inner(call) >= long_k && columns(call) > 64 ? 128 : 64;
    const int64_t tiles = product(
        product(divide_up(rows(call), wgmma_split_128::ROWS), divide_up(columns(call), width)), products(call));
    int64_t best = 0, best_parts = 1, best_groups = 1;
    for (int64_t size = 1; size <= MOST_PARTS; size *= 2) {
        if (parts != 0 && size != parts) continue;
        const int64_t room = tiles > 0 ? clusters_at_once(call, size) / tiles : 1;
        int64_t each = groups != 0 ? groups : inner(call) >= long_k ? smaller(room, slabs / size / 16) : 1;
        if (each < 1) each = 1;
        const bool fits = size == 1 || parts != 0 || (room >= 1 && slabs >= size * 16);
        if (fits && size * each >= best) best = size * each, best_parts = size, best_groups = each;
    }
    CK_TRY((width == 128 ? plan_boxes<wgmma_split_128> : plan_boxes<wgmma_split_64>)(call, plan, error));
    const int64_t blocks = product(tiles, best_parts * best_groups);
    if (blocks > call->limits->max_grid[0])
        return ck_fail(error, CK_BAD_VALUE, "the result needs %lld blocks, but this device allows at most %lld",
                       static_cast<long long>(blocks), static_cast<long long>(call->limits->max_grid[0]));
    plan->grid[0] = static_cast<unsigned>(blocks > 0 ? blocks : 1);
    plan->grid[2] = 1;
    if (best_groups > 1)
        plan->workspace_bytes =
            static_cast<size_t>(product(product(rows(call), columns(call)), products(call)) * best_groups) * 4;
    return CK_OK;
}

// The splits: workspace for the pieces, and the layout that "warp_tiles" needs, which takes over where an element is not finite.
int plan_split(const ck_call *call, ck_plan *plan, ck_error *error, bool fp16) {
    const split_tiling in_bf16 = split_bf16_tiling(call, !fp16), tiling = fp16 ? split_fp16_tiling(call) : in_bf16;
    const int64_t pairs =
        product(product(divide_up(rows(call), SPLIT_PAIR * SPLIT_ROWS), divide_up(columns(call), tiling.columns)),
                tiling.parts);
    const int64_t blocks = SPLIT_PAIR * smaller(pairs, call->limits->multiprocessors / SPLIT_PAIR);
    CK_TRY(plan_grid(call, plan, error, blocks, 1, split_fp16_208::THREADS, 1));
    const int64_t most = INT32_MAX - 512,
                  most_k = 1 << 24; // coordinates have 32 bits, and so have the counts of a line
    if (rows(call) > most || columns(call) > most || inner(call) > most_k)
        return ck_fail(error, CK_BAD_VALUE, "m and n must be at most %lld for this variant, and k at most %lld",
                       static_cast<long long>(most), static_cast<long long>(most_k));
    plan->grid[2] = 1;
    const auto bytes_of = [&](auto size) { return static_cast<size_t>(decltype(size)::SHARED_BYTES); };
    if (fp16)
        plan->shared_bytes = tiling.columns == 208   ? bytes_of(split_fp16_208{})
                             : tiling.columns == 128 ? bytes_of(split_fp16_128{})
                                                     : bytes_of(split_fp16_64{});
    else
        plan->shared_bytes = tiling.columns == 160 ? bytes_of(split_bf16_160{}) : bytes_of(split_bf16_64{});
    plan->layout[0].pitch = plan->layout[1].pitch = 4;
    const int64_t parts = tiling.parts > in_bf16.parts ? tiling.parts : in_bf16.parts;
    if (!empty(call))
        plan->workspace_bytes =
            static_cast<size_t>(split_workspace_of(call, parts, split_products_at_once(call, parts)).bytes);
    return CK_OK;
}
int plan_split_fp16(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_split(call, plan, error, true);
}
int plan_split_bf16(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_split(call, plan, error, false);
}

// --- run functions (some are in naive.cu and tiled_*.cu, which are compiled separately)

RUN_FLAT(kahan, kahan, with_float_type)
RUN_FLAT(naive_2d, naive_2d, with_float_type)
RUN_TILED(tiled_plain, tiled_plain, with_float_type)

CK_RUN(tiled) {
    const auto run = is_integer(call->types.input) ? run_tiled_integers : run_tiled_floats;
    return run(call, plan, context, error);
}

CK_RUN(tiled_padded) {
    return with_float_type(call, error, [&](auto element) {
        return with_layout<decltype(element)>(call, [&](auto type, auto plain) {
            return with_tile(call, error, [&](auto tile) {
                using T = decltype(type);
                constexpr bool PLAIN = decltype(plain)::value;
                constexpr int TILE = decltype(tile)::value;
                auto first = first_operands<T, PLAIN>(call);
                first.k = divide_up(inner(call), TILE) * TILE;
                return launch(tiled_padded<T, PLAIN, TILE>, "tiled_padded", first, call, plan, context, error);
            });
        });
    });
}

CK_RUN(shared_row) {
    return with_float_type(call, error, [&](auto element) {
        return with_layout<decltype(element)>(call, [&](auto type, auto plain) {
            using T = decltype(type);
            constexpr bool PLAIN = decltype(plain)::value;
            const int segment = static_cast<int>(row_segment(call));
            return launch(shared_row<T, PLAIN>, "shared_row", first_operands<T, PLAIN>(call), call, plan, context,
                          error, segment);
        });
    });
}
constexpr auto run_pitched = run_shared_row; // the plan determines the layout

// --- error depth and work

double depth_in_a_row(const ck_call *call) {
    return inner(call) > 0 ? static_cast<double>(inner(call)) : 1;
}
double depth_compensated(const ck_call *) {
    return 2;
}

// The pieces and their products lose up to 4 * 2^-22, which are 16 roundings; each 64 elements of k add one, up to 8192.
double depth_of_splits(const ck_call *call) {
    return 16 + static_cast<double>(divide_up(inner(call), 64));
}

// The number of elements that a view has in memory: one along a broadcast axis.
double elements(const ck_view &view) {
    double count = 1;
    for (int axis = 1; axis <= view.ndim; ++axis)
        if (stride(view, axis) != 0 || length(view, axis) == 0) count *= static_cast<double>(length(view, axis));
    return count;
}

void work(const ck_call *call, ck_work *work) {
    const int input = call->types.input;
    const double results =
        static_cast<double>(rows(call)) * static_cast<double>(columns(call)) * static_cast<double>(products(call));
    // A complex product takes four real products and two additions, and the sum takes two more additions.
    const double each = input == CK_COMPLEX64 || input == CK_COMPLEX128 ? 8 : 2;
    work->flops = each * results * static_cast<double>(inner(call));
    work->bytes = (elements(call->views[0]) + elements(call->views[1])) * static_cast<double>(ck_dtype_size(input)) +
                  results * static_cast<double>(ck_dtype_size(call->types.output));
}

// --- the table

#define CK_FOLDER    "matmul/"
#define BOTH_TYPES   TYPES(F32_F32_F32, F64_F64_F64)
#define HALVES       TYPES(ROUNDED(FLOAT16, FLOAT32), ROUNDED(BFLOAT16, FLOAT32))
#define TILE_WIDTH   PARAMETERS(CHOICE(tile, "elements per side of a tile", 16, 8, 32))
#define TILE_COLUMNS PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the size of C", 0, 256, 128, 64))
#define SPLIT                                                                                                        \
    PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the size of C", 0, 128, 64),                           \
               CHOICE(parts, "blocks of a cluster, which divide k; 0: by the sizes", 0, 1, 2, 4, 8),                 \
               CHOICE(groups, "clusters per tile, whose sums a second kernel adds; 0: by the sizes", 0, 1, 2, 16))
#define SPLIT_PARTS CHOICE(parts, "parts of k, whose sums a second kernel adds; 0: by the sizes", 0, 1, 2, 4, 8, 16)
#define TILE_SIZE   PARAMETERS(CHOICE(tile, "rows of a block's tile; 0: by the size of C", 0, 128, 64))

const ck_variant variants[] = {
    VARIANT(naive, FIRST, AT_LEAST(60), TYPES(ALL_TYPES), SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS, depth_in_a_row,
            KERNELS("naive"), "One thread per element", "The outer loops become threads", "T5, step 1"),
    VARIANT(kahan, AFTER(naive), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_compensated, KERNELS("kahan"),
            "Compensated (Kahan) summation: slower, with an error near one rounding",
            "While loads are the limit, spare arithmetic can buy accuracy", "T5, step 2"),
    VARIANT(shared_row, AFTER(kahan), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_compensated, KERNELS("shared_row"), "One block per row of A, which is kept in shared memory",
            "Load once what the whole block uses", "T5, step 3"),
    VARIANT(pitched, AFTER(shared_row), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_compensated, KERNELS("shared_row"),
            "Rows padded to the device's pitch: aligned, no faster on today's chips",
            "Rows that start at memory segments need fewer transactions", "T5, step 4"),
    VARIANT(tiled, AFTER(pitched), AT_LEAST(60), TYPES(ALL_TYPES), COMPENSATED, CK_DETERMINISTIC, TILE_WIDTH,
            depth_compensated, KERNELS("tiled"), "Each block shares tiles of A and B in shared memory",
            "Fetch each value once and use it TILE times", "T5, step 5"),
    VARIANT(tiled_padded, AFTER(tiled), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, TILE_WIDTH,
            depth_compensated, KERNELS("tiled_padded"),
            "Operands padded to whole tiles: no edge checks in the inner loop",
            "Handle the edges in the data, not in the inner loop", "T5, step 6"),
    VARIANT(naive_2d, FIRST, AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS, depth_in_a_row,
            KERNELS("naive_2d"),
            "One thread per element, in square blocks: where a second ladder begins, with plain sums",
            "A two-dimensional grid fits two-dimensional data", "P8"),
    VARIANT(tiled_plain, AFTER(naive_2d), AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, TILE_WIDTH,
            depth_in_a_row, KERNELS("tiled_plain"), "Tiles in shared memory, with plain sums",
            "The price of compensated sums, and what they gain", "P10"),
    VARIANT(column_tile, AFTER(tiled_plain), AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_in_a_row, KERNELS("column_tile"), "Each thread computes eight elements of a column",
            "A value in a register can serve several results", "SGEMM_CUDA, kernel 4"),
    VARIANT(register_tile, AFTER(column_tile), AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_in_a_row, KERNELS("register_tile"), "Each thread computes 8 x 8 elements",
            "The work of a square grows faster than its edges", "SGEMM_CUDA, kernel 5"),
    VARIANT(vectorized, AFTER(register_tile), AT_LEAST(60), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
            NO_PARAMETERS, depth_in_a_row, KERNELS("vectorized"), "Loads of 16 bytes; A's tile is transposed",
            "Fewer, wider loads leave more instructions for arithmetic", "SGEMM_CUDA, kernel 6"),
    VARIANT(double_buffered, AFTER(vectorized), AT_LEAST(80), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
            NO_PARAMETERS, depth_in_a_row, KERNELS("double_buffered"),
            "Asynchronous copies bring the next slab during the computation",
            "Compute while the next data is on its way", "CUDA programming guide, asynchronous data copies"),
    VARIANT(warp_tiles, AFTER(double_buffered), AT_LEAST(80), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
            TILE_SIZE, depth_in_a_row, KERNELS("warp_tiles"),
            "A tile per warp, lanes arranged for shared memory, four slabs ahead",
            "Tiles at every level: block, warp, thread", "CUTLASS, and S. Gray's maxas"),
    VARIANT(tensor_cores, AFTER(warp_tiles), AT_LEAST(80), HALVES, SEQUENTIAL, CK_DETERMINISTIC, TILE_SIZE,
            depth_in_a_row, KERNELS("tensor_cores"), "A warp multiplies small matrices in one instruction (mma.sync)",
            "One instruction for 2048 multiply-adds", "PTX: mma.sync, ldmatrix"),
    VARIANT(wgmma_tiles, AFTER(tensor_cores), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_in_a_row, KERNELS("wgmma_tiles"),
            "Hopper's tensor cores read shared memory (wgmma), which TMA fills", "Hand the copies to the hardware",
            "PTX: wgmma, TMA, mbarrier"),
    VARIANT(wgmma_producer, AFTER(wgmma_tiles), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_in_a_row, KERNELS("wgmma_producer"),
            "A producer copies, consumers only multiply; tiles of 128 x 256", "Give each warp one task",
            "CUTLASS, warp specialization"),
    VARIANT(wgmma_persistent, AFTER(wgmma_producer), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, TILE_COLUMNS,
            depth_in_a_row, KERNELS("wgmma_persistent"),
            "One block per multiprocessor computes tile after tile; TMA stores", "Never let the pipeline run empty",
            "CUTLASS, persistent kernels"),
    VARIANT(wgmma_multicast, AFTER(wgmma_persistent), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, TILE_COLUMNS,
            depth_in_a_row, KERNELS("wgmma_multicast"), "Two blocks form a cluster and share what they copy of B",
            "Read once what two multiprocessors need", "PTX: clusters, cp.async.bulk with multicast"),
    VARIANT(wgmma_split, AFTER(wgmma_multicast), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, SPLIT,
            depth_in_a_row, KERNELS("wgmma_split"),
            "The blocks of a cluster divide k, and add their sums through distributed shared memory",
            "Small results: split the inner axis, too", "CUTLASS, split-K; PTX: distributed shared memory"),
    VARIANT(wgmma_tf32, AFTER(wgmma_persistent), EXACTLY(90), TYPES(F32_F32_F32), SEQUENTIAL,
            CK_DETERMINISTIC | CK_CUTS_INPUTS, TILE_COLUMNS, depth_in_a_row, KERNELS("wgmma_along_k"),
            "Tensor cores for float32 that is cut to 11 significant bits (tf32); only on request",
            "Fewer bits are faster: pay with accuracy only where the caller asks", "PTX: wgmma, tf32"),
    VARIANT(split_fp16, AFTER(wgmma_multicast), EXACTLY(90), TYPES(F32_F32_F32), TREE, CK_DETERMINISTIC,
            PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the sizes", 0, 208, 128, 64), SPLIT_PARTS),
            depth_of_splits, KERNELS("split_product", "split_pieces"),
            "float32 as sums of two float16: three products on tensor cores, or six where the data asks",
            "Exact parts of a number multiply exactly: three fast products can beat a slow one, also in accuracy",
            "Ootomo and Yokota 2022; PTX: wgmma"),
    VARIANT(split_bf16, AFTER(split_fp16), EXACTLY(90), TYPES(F32_F32_F32), TREE, CK_DETERMINISTIC,
            PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the sizes", 0, 160, 64), SPLIT_PARTS),
            depth_of_splits, KERNELS("split_product", "split_pieces"),
            "float32 as sums of three bfloat16: six products on the tensor cores, for any range",
            "A third piece buys range with twice the work", "Henry, Tang and Heinecke 2019; PTX: wgmma"),
    VARIANT(wgmma_int8, AFTER(wgmma_tf32), EXACTLY(90), TYPES(WIDENED(INT8, INT32)), SEQUENTIAL, CK_DETERMINISTIC,
            TILE_COLUMNS, depth_in_a_row, KERNELS("wgmma_along_k"),
            "Tensor cores for int8, with exact sums in int32; only with out= of int32",
            "Small integers need no rounding: sums of their products fit in 32 bits", "PTX: wgmma, s8"),
    VARIANT(tensor_cores_double, AFTER(warp_tiles), AT_LEAST(90), TYPES(F64_F64_F64), SEQUENTIAL, CK_DETERMINISTIC,
            TILE_SIZE, depth_in_a_row, KERNELS("tensor_cores_double"), "Tensor cores for float64 (mma.sync)",
            "Doubles have tensor cores, too: twice the rate, the same rounding", "PTX: mma.sync"),
};

} // namespace
} // namespace matmul

CK_OPERATION(matmul, "The product of two matrices, or of two stacks of matrices", 2, 1)

// matmul: C = A * B for two matrices, or for stacks of them. The table of the ladders. Each kernel is in a file of
// its own. README.md in this folder says what the other files are for.
//
// Read the files of ladder/ in their order. Views: the last two axes are the matrices; A is m x k, B is k x n, C is m
// x n. The axes before them are those of the stack, with equal lengths in all views (a broadcast axis has stride 0).
// Strides may have any value.
#include <atomic>

#include "ladder/02_kahan.cuh"
#include "ladder/03_shared_row.cuh"
#include "ladder/06_tiled_padded.cuh"
#include "ladder/10_naive_2d.cuh"
#include "ladder/11_tiled_plain.cuh"

#include "plans/cores.cuh"
#include "plans/split_k.cuh"
#include "plans/hopper.cuh"
#include "plans/split.cuh"
#include "plans/residues.cuh"
#include "ladder/50_fastest.cuh"
#include "../table.h"

namespace matmul {

ck_run run_naive, run_tiled_integers, run_tiled_floats;                                // naive.cu, tiled.cu
ck_run run_column_tile, run_register_tile, run_vectorized, run_double_buffered;        // register_tiles.cu
ck_run run_few_rows;                                                                   // few_rows.cu
ck_run run_warp_tiles, run_small_tiles, run_warp_tiles_split_k;                        // warp_tiles.cu
ck_run run_wgmma_tiles, run_wgmma_producer, run_wgmma_persistent, run_wgmma_multicast; // wgmma.cu
ck_run run_wgmma_split_k, run_wgmma_groups;       // wgmma_split_k.cu, wgmma_groups.cu
ck_run run_wgmma_tf32, run_wgmma_int8;            // wgmma_along_k.cu
ck_run run_split_fp16, run_split_bf16;            // split.cu
ck_run run_split_inside, run_split_small;         // split_inside.cu, split_small.cu
ck_run run_tensor_cores, run_tensor_cores_double; // tensor_cores.cu, tensor_cores_double.cu
ck_run run_tensor_cores_split_k;                  // tensor_cores_split_k.cu
ck_run run_residues_int8;                         // residues_int8.cu

namespace {

// --- the other run functions

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

// The chosen variant, and the call with the default values of its parameters. (The table comes below.)
const ck_variant *chosen(const ck_call *call, ck_call *own, int64_t (&values)[CK_MAX_PARAMETERS]);

int plan_fastest(const ck_call *call, ck_plan *plan, ck_error *error) {
    ck_call own;
    int64_t values[CK_MAX_PARAMETERS];
    return chosen(call, &own, values)->plan(&own, plan, error);
}

CK_RUN(fastest) {
    ck_call own;
    int64_t values[CK_MAX_PARAMETERS];
    return chosen(call, &own, values)->run(&own, plan, context, error);
}

double depth_of_fastest(const ck_call *call) {
    ck_call own;
    int64_t values[CK_MAX_PARAMETERS];
    return chosen(call, &own, values)->depth(&own);
}

// --- error depth and work

double depth_in_a_row(const ck_call *call) {
    return inner(call) > 0 ? static_cast<double>(inner(call)) : 1;
}
double depth_compensated(const ck_call *) {
    return 2;
}

// The pieces and their products lose up to 4 * 2^-22, which are 16 roundings; each 64 elements of k add up to two, in
// "split_small" four. (There, the last few elements may have one more. But the first sum is added to zero, which
// rounds nothing.)
template <int ROUNDINGS> double depth_of_pieces(const ck_call *call) {
    return 16 + ROUNDINGS * static_cast<double>(divide_up(inner(call), 64));
}
constexpr auto depth_of_splits = depth_of_pieces<2>, depth_of_split_small = depth_of_pieces<4>;

// Two pieces lose up to 4 * 2^-22, half of it in lossy elements. And in a sum with one large term, the tensor cores
// cut off up to 2^-25 of that term from each of the others, 31 or 63: half a rounding each. (Three pieces lose so
// little that their 16 roundings include this.)
double depth_of_split_fp16(const ck_call *call) {
    return depth_of_splits(call) + (inner(call) < SPLIT_LONG ? 32 : 64) / 2;
}

// Both lines are rounded to integers, with an error of at most 1/2 for each element, and the check says that the
// magnitudes' product is at least RESIDUES_COSINE of what the norms allow (residue_findings.cuh). Where they are not,
// sums are in order.
double depth_of_residues(const ck_call *call) {
    const double k = depth_in_a_row(call), norm = residue_system(static_cast<int>(call->parameters[0])).norm;
    const double rounded = 1 + 2 / RESIDUES_COSINE * sqrt(k) / norm * 0x1p53;
    return rounded > k ? rounded : k;
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
#define PARTS        CHOICE(parts, "blocks of a cluster, which divide k; 0: by the sizes", 0, 1, 2, 4, 8)
#define GROUPS       CHOICE(groups, "clusters per tile, whose sums a second kernel adds; 0: by the sizes", 0, 1, 2, 16)
#define SPLIT(...)                                                                                                   \
    PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the size of C", 0, __VA_ARGS__), PARTS, GROUPS,        \
               CHOICE(side, "the rows of a tile are C's rows (1) or its columns (2); 0: by the sizes", 0, 1, 2))
#define SHARES                                                                                                       \
    CHOICE(shares, "clusters have tiles (1), parts of tiles (2), or equal shares (3); 0: by the sizes", 0, 1, 2, 3)
#define HALF_COLUMNS PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the size of C", 0, 256, 192, 128, 64))
#define TILE_SIZE    PARAMETERS(CHOICE(tile, "rows of a block's tile; 0: by the size of C", 0, 128, 64))

const ck_variant variants[] = {
    RUNG(01, naive, FIRST, AT_LEAST(60), TYPES(ALL_TYPES), SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_in_a_row, KERNELS("naive"), "One thread per element", "The outer loops become threads", "T5, step 1"),
    RUNG(02, kahan, AFTER(naive), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_compensated, KERNELS("kahan"),
         "Compensated (Kahan) summation: slower, with an error near one rounding",
         "While loads are the limit, spare arithmetic can buy accuracy", "T5, step 2"),
    RUNG(03, shared_row, AFTER(kahan), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_compensated, KERNELS("shared_row"), "One block per row of A, which is kept in shared memory",
         "Load once what the whole block uses", "T5, step 3"),
    RUNG(04, pitched, AFTER(shared_row), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_compensated, KERNELS("shared_row"),
         "Rows padded to the device's pitch: aligned, no faster on today's chips",
         "Rows that start at memory segments need fewer transactions", "T5, step 4"),
    RUNG(05, tiled, AFTER(pitched), AT_LEAST(60), TYPES(ALL_TYPES), COMPENSATED, CK_DETERMINISTIC, TILE_WIDTH,
         depth_compensated, KERNELS("tiled"), "Each block shares tiles of A and B in shared memory",
         "Fetch each value once and use it TILE times", "T5, step 5"),
    RUNG(06, tiled_padded, AFTER(tiled), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, TILE_WIDTH,
         depth_compensated, KERNELS("tiled_padded"),
         "Operands padded to whole tiles: no edge checks in the inner loop",
         "Handle the edges in the data, not in the inner loop", "T5, step 6"),
    RUNG(10, naive_2d, FIRST, AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS, depth_in_a_row,
         KERNELS("naive_2d"),
         "Square blocks: slower, because a warp then reads two rows of A; the start of a second ladder",
         "A two-dimensional grid fits two-dimensional data", "P8"),
    RUNG(11, tiled_plain, AFTER(naive_2d), AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, TILE_WIDTH,
         depth_in_a_row, KERNELS("tiled_plain"), "Tiles in shared memory, with plain sums",
         "The price of compensated sums, and what they gain", "P10"),
    RUNG(12, column_tile, AFTER(tiled_plain), AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_in_a_row, KERNELS("column_tile"), "Each thread computes eight elements of a column",
         "A value in a register can serve several results", "SGEMM_CUDA, kernel 4"),
    RUNG(13, register_tile, AFTER(column_tile), AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_in_a_row, KERNELS("register_tile"), "Each thread computes 8 x 8 elements",
         "The work of a square grows faster than its edges", "SGEMM_CUDA, kernel 5"),
    RUNG(14, vectorized, AFTER(register_tile), AT_LEAST(60), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
         NO_PARAMETERS, depth_in_a_row, KERNELS("vectorized"), "Loads of 16 bytes; A's tile is transposed",
         "Fewer, wider loads leave more instructions for arithmetic", "SGEMM_CUDA, kernel 6"),
    RUNG(15, double_buffered, AFTER(vectorized), AT_LEAST(80), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
         NO_PARAMETERS, depth_in_a_row, KERNELS("double_buffered"),
         "Asynchronous copies fetch the next slab while the current one is used",
         "Compute while the next data is on its way", "CUDA programming guide, asynchronous data copies"),
    RUNG(16, warp_tiles, AFTER(double_buffered), AT_LEAST(80), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
         TILE_SIZE, depth_in_a_row, KERNELS("warp_tiles"),
         "One tile per warp, lanes arranged for shared memory, three slabs in turn",
         "Tiles at every level: block, warp, thread", "CUTLASS, and S. Gray's maxas"),
    RUNG(17, small_tiles, AFTER(warp_tiles), AT_LEAST(80), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
         NO_PARAMETERS, depth_in_a_row, KERNELS("small_tiles"), "Tiles of 32 x 32, whose four warps divide k",
         "A short computation takes as long as its longest chain of steps: divide it", "CUTLASS, sliced k"),
    RUNG(18, warp_tiles_split_k, AFTER(small_tiles), EXACTLY(90), TYPES(F32_F32_F32), SEQUENTIAL, CK_DETERMINISTIC,
         PARAMETERS(PARTS, GROUPS), depth_in_a_row, KERNELS("warp_tiles_split_k"),
         "The blocks of a cluster divide k, and add their sums through distributed shared memory",
         "Small results: split the inner axis, too", "CUTLASS, split-K; PTX: distributed shared memory"),
    RUNG(19, few_rows, AFTER(warp_tiles_split_k), AT_LEAST(60),
         TYPES(F32_F32_F32, ROUNDED(FLOAT16, FLOAT32), ROUNDED(BFLOAT16, FLOAT32)), SEQUENTIAL, CK_DETERMINISTIC,
         NO_PARAMETERS, depth_in_a_row, KERNELS("few_across"),
         "At most 16 rows or columns: each thread computes all of them, and reads the other operand once",
         "If one operand is small, the time to read the other one is the limit", "cudakern"),
    RUNG(20, tensor_cores, AFTER(warp_tiles), AT_LEAST(80), HALVES, SEQUENTIAL, CK_DETERMINISTIC, TILE_SIZE,
         depth_in_a_row, KERNELS("tensor_cores"), "A warp multiplies small matrices in one instruction (mma.sync)",
         "One instruction for 2048 multiply-adds", "PTX: mma.sync, ldmatrix"),
    RUNG(21, tensor_cores_split_k, AFTER(tensor_cores), AT_LEAST(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC,
         PARAMETERS(PARTS, GROUPS, CHOICE(tile, "rows and columns of a block's tile; 0: by the sizes", 0, 64, 32)),
         depth_in_a_row, KERNELS("tensor_cores_split_k"),
         "The blocks of a cluster divide k, and operands may have any alignment",
         "A small product is over before a copy of its operands would be", "CUTLASS, split-K; PTX: mma.sync"),
    RUNG(22, wgmma_tiles, AFTER(tensor_cores), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_in_a_row, KERNELS("wgmma_tiles"), "Hopper's tensor cores read shared memory (wgmma), which TMA fills",
         "Hand the copies to the hardware", "PTX: wgmma, TMA, mbarrier"),
    RUNG(23, wgmma_producer, AFTER(wgmma_tiles), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_in_a_row, KERNELS("wgmma_producer"), "A producer copies, consumers only multiply; tiles of 128 x 256",
         "Give each warp one task", "CUTLASS, warp specialization"),
    RUNG(24, wgmma_persistent, AFTER(wgmma_producer), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, HALF_COLUMNS,
         depth_in_a_row, KERNELS("wgmma_persistent"),
         "One block per multiprocessor computes tile after tile; TMA stores", "Never let the pipeline run empty",
         "CUTLASS, persistent kernels"),
    RUNG(25, wgmma_multicast, AFTER(wgmma_persistent), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC,
         HALF_COLUMNS, depth_in_a_row, KERNELS("wgmma_multicast"),
         "Two blocks form a cluster and share the tiles of B that they copy",
         "Read once what two multiprocessors need", "PTX: clusters, cp.async.bulk with multicast"),
    RUNG(26, wgmma_split_k, AFTER(wgmma_multicast), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC, SPLIT(128, 64),
         depth_in_a_row, KERNELS("wgmma_split_k"),
         "The blocks of a cluster divide k, and add their sums through distributed shared memory",
         "Small results: split the inner axis, too", "CUTLASS, split-K; PTX: distributed shared memory"),
    RUNG(27, wgmma_groups, AFTER(wgmma_split_k), EXACTLY(90), HALVES, SEQUENTIAL, CK_DETERMINISTIC,
         PARAMETERS(GROUPS), depth_in_a_row, KERNELS("wgmma_groups"),
         "Pairs of blocks share their copies, and groups of pairs divide k",
         "Two ways to use clusters: to add sums, or to read less", "CUTLASS, split-K; PTX: multicast"),
    RUNG(30, wgmma_tf32, AFTER(wgmma_multicast), EXACTLY(90), TYPES(F32_F32_F32), SEQUENTIAL,
         CK_DETERMINISTIC | CK_CUTS_INPUTS, TILE_COLUMNS, depth_in_a_row, KERNELS("wgmma_along_k"),
         "Tensor cores for float32 truncated to 11 significant bits (tf32); only on request",
         "Fewer bits are faster: pay with accuracy only where the caller asks", "PTX: wgmma, tf32"),
    RUNG(31, split_fp16, AFTER(wgmma_multicast), EXACTLY(90), TYPES(F32_F32_F32), TREE, CK_DETERMINISTIC,
         PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the sizes", 0, 208, 128, 64), SHARES),
         depth_of_split_fp16, KERNELS("split_product", "split_pieces"),
         "float32 as the sum of two float16: three products on tensor cores, six if the data needs them",
         "Exact parts of a number multiply exactly: three fast products can beat a slow one, also in accuracy",
         "Ootomo and Yokota 2022; PTX: wgmma"),
    RUNG(32, split_bf16, AFTER(split_fp16), EXACTLY(90), TYPES(F32_F32_F32), TREE, CK_DETERMINISTIC,
         PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the sizes", 0, 128, 64), SHARES), depth_of_splits,
         KERNELS("split_product", "split_pieces"),
         "float32 as the sum of three bfloat16: six products on tensor cores, for any range",
         "A third piece buys range with twice the work", "Henry, Tang and Heinecke 2019; PTX: wgmma"),
    RUNG(33, split_inside, AFTER(split_bf16), EXACTLY(90), TYPES(F32_F32_F32), TREE, CK_DETERMINISTIC,
         SPLIT(128, 64, 32), depth_of_splits, KERNELS("split_inside"),
         "The pieces of split_bf16, made inside the kernel: one launch, for any strides",
         "If data passes through registers anyway, it can be changed there for little", "cudakern"),
    RUNG(34, split_small, AFTER(split_inside), EXACTLY(90), TYPES(F32_F32_F32), TREE, CK_DETERMINISTIC,
         PARAMETERS(CHOICE(tile, "columns of a block's tile; 0: by the sizes", 0, 128, 80, 64)), depth_of_split_small,
         KERNELS("split_small"),
         "Small blocks that load, split and multiply in turn, four on a multiprocessor: for small products",
         "Blocks that wait for different things keep a multiprocessor busy without a pipeline", "cudakern"),
    RUNG(40, wgmma_int8, AFTER(wgmma_tf32), EXACTLY(90), TYPES(WIDENED(INT8, INT32)), SEQUENTIAL, CK_DETERMINISTIC,
         TILE_COLUMNS, depth_in_a_row, KERNELS("wgmma_along_k"),
         "Tensor cores for int8, with exact sums in int32; only with out= of int32",
         "Small integers need no rounding: sums of their products fit in 32 bits", "PTX: wgmma, s8"),
    RUNG(41, tensor_cores_double, AFTER(warp_tiles), AT_LEAST(90), TYPES(F64_F64_F64), SEQUENTIAL, CK_DETERMINISTIC,
         PARAMETERS(PARTS, GROUPS, CHOICE(tile, "rows of a block's tile, of 64 columns; 0: by the sizes", 0, 64, 32)),
         depth_in_a_row, KERNELS("tensor_cores_double"), "Tensor cores for float64 (mma.sync); blocks may divide k",
         "Doubles have tensor cores, too: twice the rate, the same rounding", "PTX: mma.sync"),
    RUNG(42, residues_int8, AFTER(tensor_cores_double), EXACTLY(90), TYPES(F64_F64_F64), SEQUENTIAL, CK_DETERMINISTIC,
         PARAMETERS(CHOICE(moduli, "products of int8; each gives 4 bits of an element", RESIDUES_DEFAULT, 14, 16)),
         depth_of_residues, KERNELS("residues_product", "residues_split"),
         "float64 as integers, multiplied by their residues: 15 products of int8",
         "Residues never carry: one product of large integers is many independent products of small ones",
         "Ozaki, Uchino and Imamura 2025; PTX: wgmma"),
    RUNG(50, fastest, AFTER(split_small), AT_LEAST(60), TYPES(ALL_TYPES), SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS,
         depth_of_fastest, KERNELS("split_inside"),
         "The variant that is estimated to be the fastest for the type, the sizes and the chip",
         "No variant is the fastest everywhere: choose by a model of their times", "cudakern"),
};

// All that the choice depends on.
struct choice_key {
    int64_t m, n, k, products, type, capability, exact, multiprocessors, most_products;
};

struct kept_choice {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    choice_key key{};
    const ck_variant *variant = nullptr;
};

// A call is planned and then run, and often repeated, and the estimates take as long as a fifth of a launch: some
// choices are kept. While another thread uses a place, the choice is made anew.
const ck_variant *fastest_variant(const ck_call *call) {
    static kept_choice all[16];
    const ck_limits &limits = *call->limits;
    const choice_key key = {rows(call),     columns(call),          inner(call),
                            products(call), call->types.input,      limits.capability,
                            limits.exact,   limits.multiprocessors, limits.max_grid[2]};
    kept_choice &kept = all[static_cast<uint64_t>(key.m + 3 * key.n + 5 * key.k + key.type) % 16];
    const bool mine = !kept.busy.test_and_set(std::memory_order_acquire);
    const ck_variant *variant = nullptr;
    if (mine && kept.variant != nullptr && memcmp(&key, &kept.key, sizeof key) == 0) {
        variant = kept.variant;
    } else {
        const char *const name = fastest_of(call);
        for (variant = variants; strcmp(variant->name, name) != 0;) ++variant;
        if (mine) kept.key = key, kept.variant = variant;
    }
    if (mine) kept.busy.clear(std::memory_order_release);
    return variant;
}

const ck_variant *chosen(const ck_call *call, ck_call *own, int64_t (&values)[CK_MAX_PARAMETERS]) {
    *own = *call;
    own->parameters = values;
    const ck_variant *const variant = fastest_variant(call);
    for (int i = 0; i < CK_MAX_PARAMETERS; ++i) values[i] = variant->parameters[i].fallback;
    return variant;
}

} // namespace
} // namespace matmul

CK_OPERATION(matmul, "The product of two matrices, or of two stacks of matrices", 2, 1)

// The launches of the scans and their table. exclusive_scan.cu and inclusive_scan.cu include this file, each with its
// own SCAN_EXCLUSIVE: the kernels are the same, without or with a thread's own element.
#include "ladder/01_serial.cuh"
#include "ladder/02_block_chunks.cuh"
#include "ladder/03_blocks.cuh"
#include "ladder/04_lookback.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace scan {
namespace {

// Sums of integers have the same bits with and without a sign; only the conversion to 64 bits differs. Narrow types
// are supported only by "lookback".
template <typename T> using element = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
template <typename T> using sum_of = accumulator<T, uint64_t>;

template <typename Visit> int with_scan_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_type<CK_INT32, CK_UINT32, CK_INT64, CK_UINT64, CK_FLOAT32, CK_FLOAT64>(
        call, error, [&](auto x) { return visit(element<decltype(x)>{}); });
}

template <typename Visit> int with_every_type(const ck_call *call, ck_error *error, Visit visit) {
    return ck_dtype_size(call->types.input) < 4
               ? with_type<CK_BOOL, CK_INT8, CK_UINT8, CK_INT16, CK_UINT16>(call, error, visit)
               : with_scan_type(call, error, visit);
}

// --- plans

int plan_for(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks, int64_t threads) {
    CK_TRY(check_same_elements(call, error));
    return plan_row(call, plan, error, blocks, threads);
}

int plan_serial(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_for(call, plan, error, 1, 1);
}

int plan_block_chunks(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_for(call, plan, error, 1, call->parameters[0]);
}

int64_t tiles_of_blocks(const ck_call *call) {
    return divide_up(length(call), call->parameters[0] * ROUNDS_A_TILE);
}

int plan_blocks(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_for(call, plan, error, tiles_of_blocks(call), call->parameters[0]));
    plan->workspace_bytes = plan->grid[0] * ck_dtype_size(call->types.accumulator);
    return CK_OK;
}

int64_t tile_of_lookback(const ck_call *call) {
    const int64_t a_warp = ck_dtype_size(call->types.accumulator) == sizeof(float)
                               ? packed_tile<float, float>::A_WARP
                               : packed_tile<double, double>::A_WARP;
    return call->parameters[0] / WARP * a_warp;
}

int plan_lookback(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_for(call, plan, error, divide_up(length(call), tile_of_lookback(call)), call->parameters[0]));
    const int64_t tiles = plan->grid[0];
    const auto words = ck_dtype_size(call->types.accumulator) == sizeof(float) ? lookback_sums<float>::words(tiles)
                                                                               : lookback_sums<double>::words(tiles);
    plan->workspace_bytes = static_cast<size_t>(words) * sizeof(word);
    plan->clear_workspace = 1;
    return CK_OK;
}

// --- runs

RUN(serial, with_scan_type, (serial<T, sum_of<T>, SCAN_EXCLUSIVE>), input<T>(call, 0), output<sum_of<T>>(call),
    length(call))
RUN(block_chunks, with_scan_type, (block_chunks<T, sum_of<T>, SCAN_EXCLUSIVE>), input<T>(call, 0),
    output<sum_of<T>>(call), length(call))
RUN(lookback, with_every_type, (lookback<T, sum_of<T>, SCAN_EXCLUSIVE>), input<T>(call, 0), output<sum_of<T>>(call),
    length(call), lookback_sums<sum_of<T>>::in(context->workspace, plan->grid[0]))

CK_RUN(blocks) {
    return with_scan_type(call, error, [&](auto x) -> int {
        using In = decltype(x);
        using Acc = sum_of<In>;
        const dim3 grid = ck_dim3(plan->grid), block = ck_dim3(plan->block);
        const int64_t n = length(call);
        Acc *const sums = static_cast<Acc *>(context->workspace);
        CK_TRY(ck_launch(context, error, "block_sums", block_sums<In, Acc, SCAN_EXCLUSIVE>, grid, block, 0,
                         input<In>(call, 0), n, sums));
        CK_TRY(ck_launch(context, error, "scan_of_sums", scan_of_sums<Acc, SCAN_EXCLUSIVE>, dim3(1), block, 0, sums,
                         static_cast<int64_t>(plan->grid[0])));
        return ck_launch(context, error, "blocks", blocks<In, Acc, SCAN_EXCLUSIVE>, grid, block, 0,
                         input<In>(call, 0), output<Acc>(call), n, sums);
    });
}

// --- error depth: the number of additions on the longest path to the last result

enum { DEPTH_OF_BLOCK = 5 + 5 + 1 }; // the scan of the lanes, the scan of the warps, and their sum

int64_t halvings(int64_t n) {
    int64_t rounds = 0;
    for (int64_t reach = 1; reach < n; reach *= 2) ++rounds;
    return rounds;
}

double depth_in_a_row(const ck_call *call) {
    return static_cast<double>(length(call));
}
double depth_block_chunks(const ck_call *call) {
    const int64_t threads = call->parameters[0];
    return static_cast<double>(divide_up(length(call), threads) + threads + 1);
}
double depth_blocks(const ck_call *call) {
    const int64_t rounds = divide_up(tiles_of_blocks(call), call->parameters[0]);
    return static_cast<double>(2 * ROUNDS_A_TILE + rounds + 3 * DEPTH_OF_BLOCK + 3);
}
// A pack, its warp, the rounds, the warps; then three levels of sums, of which the highest is sequential.
double depth_lookback(const ck_call *call) {
    const int64_t tiles = divide_up(length(call), tile_of_lookback(call)), groups = divide_up(tiles, GROUP);
    return static_cast<double>(WIDEST_ACCESS / 4 + rounds_of<float>() + DEPTH_OF_BLOCK +
                               halvings(smaller(tiles, GROUP)) + halvings(smaller(groups, GROUP)) + groups / GROUP +
                               6);
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = n;
    work->bytes = n * static_cast<double>(ck_dtype_size(call->types.input) + ck_dtype_size(call->types.output));
}

// --- the table

#define CK_FOLDER  "exclusive_scan/"
#define MAIN_TYPES F32_F32_F32, F64_F64_F64, I32_I64_I64, I64_I64_I64, WIDENED(UINT32, UINT64), SAME(UINT64)
#define NARROW_TYPES                                                                                                 \
    WIDENED(BOOL, INT64), WIDENED(INT8, INT64), WIDENED(INT16, INT64), WIDENED(UINT8, UINT64), WIDENED(UINT16, UINT64)
#define SCAN_TYPES TYPES(MAIN_TYPES)
#define EVERY_TYPE TYPES(MAIN_TYPES, NARROW_TYPES)

const ck_variant variants[] = {
    RUNG(01, serial, FIRST, AT_LEAST(60), SCAN_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS, depth_in_a_row,
         KERNELS("serial"), "One thread keeps a running sum",
         "A prefix sum looks serial, because each value needs the one before it", "M, calc_prefix_sum_kernel_single"),
    RUNG(02, block_chunks, AFTER(serial), AT_LEAST(60), SCAN_TYPES, SEQUENTIAL, CK_DETERMINISTIC,
         PARAMETERS(ANY_THREADS), depth_block_chunks, KERNELS("block_chunks"),
         "One chunk per thread in one block, then add the sum of all earlier chunks",
         "A scan of chunks plus a scan of the chunks' sums is a scan", "M, figure 6.25"),
    RUNG(03, blocks, AFTER(block_chunks), AT_LEAST(60), SCAN_TYPES, TREE, CK_DETERMINISTIC, PARAMETERS(WHOLE_WARPS),
         depth_blocks, KERNELS("block_sums", "scan_of_sums", "blocks"),
         "Three launches with many blocks: sum the tiles, scan the sums, scan the tiles",
         "The end of a launch is a barrier for all blocks", "M, figure 6.25, by many blocks"),
    RUNG(04, lookback, AFTER(blocks), AT_LEAST(70), EVERY_TYPE, TREE, CK_DETERMINISTIC,
         PARAMETERS(CHOICE(threads, "threads per block", TILE_THREADS, 32, 64, 128)), depth_lookback,
         KERNELS("lookback"), "One launch: each block looks back at the sums of earlier blocks",
         "A block may wait for blocks that are certain to have started",
         "Merrill and Garland 2016, in a fixed order"),
};

} // namespace
} // namespace scan

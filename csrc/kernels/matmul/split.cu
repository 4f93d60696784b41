// The launches of "split_fp16" and "split_bf16". The table is in matmul.cu; what the kernels do one after another is in
// split_operands.cuh.
#include "split_choose.cuh"
#include "split_run.cuh"
#include "split_scales.cuh"

namespace matmul {

run_split_product_of run_split_fp16_208, run_split_fp16_128, run_split_fp16_64; // split_fp16_run.cu
run_split_product_of run_split_bf16_160, run_split_bf16_64;                     // split_bf16_run.cu
run_warp_tiles_if_of run_warp_tiles_if;                                         // warp_tiles.cu

namespace {

// The kernels of some products of the stack.
int run_some(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error, bool fp16,
             const operand_stack<float, false> &stack, int64_t products) {
    const operands<float, false> &first = stack.first;
    const int64_t m = first.m, n = first.n, k = first.k;
    const bool a_along_k = lines_are_rows(call->views[0], plan->layout[0].pitch);
    const bool b_along_k = !lines_are_rows(call->views[1], plan->layout[1].pitch);
    if (k == 0) return run_warp_tiles_if(stack, products, a_along_k, b_along_k, nullptr, 0, context, error);
    const split_tiling in_fp16 = split_fp16_tiling(call), in_bf16 = split_bf16_tiling(call, !fp16);
    const int parts = fp16 && in_fp16.parts > in_bf16.parts ? in_fp16.parts : in_bf16.parts;
    const split_workspace at = split_workspace_of(call, parts, products);
    char *const workspace = static_cast<char *>(context->workspace);
    const auto words = [&](int64_t offset) { return reinterpret_cast<unsigned *>(workspace + offset); };
    const auto ints = [&](int64_t offset) { return reinterpret_cast<int *>(workspace + offset); };

    split_operands split = {};
    split.choice = ints(at.choice), split.balanced = ints(at.balanced), split.balance = ints(at.balance);
    split.k = static_cast<int>(k), split.products = static_cast<int>(products), split.pitch = split_pitch(call);
    split.axes = stack.axes;
    for (int i = 0; i < stack.axes; ++i) split.axis[i] = stack.axis[i];
    for (int i = 0; i < 2; ++i) {
        const auto &from = at.side[i];
        split.side[i] = {i == 0 ? first.a.data : first.b.data,
                         i == 0 ? first.a.row_stride : first.b.column_stride,
                         i == 0 ? first.a.column_stride : first.b.row_stride,
                         static_cast<int>(i == 0 ? m : n),
                         words(from.largest),
                         words(from.top),
                         words(from.lossy),
                         words(from.small),
                         words(from.good),
                         words(from.mass),
                         ints(from.exponent),
                         words(from.largest_of_k),
                         workspace + from.pieces};
    }
    const int multiprocessors = call->limits->multiprocessors;
    const auto product_of = [&](const split_tiling &tiling) {
        split_product_operands op = {};
        op.c = first.c, op.m = static_cast<int>(m), op.n = static_cast<int>(n), op.k = split.k;
        op.products = split.products, op.choice = split.choice;
        op.a_exponent = split.side[0].exponent, op.b_exponent = split.side[1].exponent;
        op.parts = tiling.parts, op.part_slabs = tiling.part_slabs;
        op.sums = tiling.parts > 1 ? reinterpret_cast<float *>(workspace + at.sums) : nullptr;
        op.axes = split.axes;
        for (int i = 0; i < op.axes; ++i) op.axis[i] = split.axis[i];
        return op;
    };

    // A few blocks for each multiprocessor, which visit the tiles of both operands.
    const int64_t lines = m > n ? m : n, most = 8 * static_cast<int64_t>(multiprocessors);
    const int64_t tiles = product(divide_up(lines, PIECES_SIDE), divide_up(k, PIECES_SIDE));
    const unsigned z = static_cast<unsigned>(products);
    const dim3 grid(static_cast<unsigned>(smaller(tiles, most)), 2, z);
    const auto launch_pieces = [&](auto kernel) {
        return ck_launch_early(0, context, error, "split_pieces", kernel, grid, dim3(PIECES_THREADS), 0, split);
    };
    const int64_t to_clear = at.statistics / 4;
    CK_TRY(ck_launch(context, error, "split_clear", split_clear,
                     dim3(static_cast<unsigned>(smaller(divide_up(to_clear, 256), most))), dim3(256), 0, words(0),
                     to_clear));
    CK_TRY(ck_launch_early(0, context, error, "split_largest", split_largest, grid, dim3(SCALES_THREADS), 0, split));
    CK_TRY(ck_launch_early(0, context, error, "split_balance", split_balance, dim3(1, 1, z), dim3(BALANCE_THREADS), 0,
                           split, fp16));
    CK_TRY(ck_launch_early(0, context, error, "split_tops", split_tops, grid, dim3(SCALES_THREADS), 0, split));
    if (fp16) {
        CK_TRY(launch_pieces(split_pieces<__half>));
        CK_TRY(ck_launch_early(0, context, error, "split_choose", split_choose, dim3(1, 1, z), dim3(CHOOSE_THREADS),
                               0, split));
        const auto run = in_fp16.columns == 208   ? run_split_fp16_208
                         : in_fp16.columns == 128 ? run_split_fp16_128
                                                  : run_split_fp16_64;
        CK_TRY(run(split, product_of(in_fp16), multiprocessors, context, error));
    }
    CK_TRY(launch_pieces(split_pieces<__nv_bfloat16>));
    const auto run = in_bf16.columns == 160 ? run_split_bf16_160 : run_split_bf16_64;
    CK_TRY(run(split, product_of(in_bf16), multiprocessors, context, error));
    return run_warp_tiles_if(stack, products, a_along_k, b_along_k, split.choice, SPLIT_NOT, context, error);
}

int run_split(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error, bool fp16) {
    if (empty(call)) return CK_OK;
    const int64_t parts = fp16 ? split_fp16_tiling(call).parts : 1, bf16_parts = split_bf16_tiling(call, !fp16).parts;
    return in_parts(first_operands<float, false>(call), axes_of<float>(call),
                    split_products_at_once(call, parts > bf16_parts ? parts : bf16_parts),
                    [&](const operand_stack<float, false> &stack, int64_t products) {
                        return run_some(call, plan, context, error, fp16, stack, products);
                    });
}

} // namespace

CK_RUN(split_fp16) {
    return run_split(call, plan, context, error, true);
}

CK_RUN(split_bf16) {
    return run_split(call, plan, context, error, false);
}

} // namespace matmul

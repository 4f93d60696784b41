// The launches of "split_fp16" and "split_bf16". The table is in matmul.cu; what the kernels do one after another is
// in split_operands.cuh.
#include "../plans/split_inside.cuh"
#include "split.cuh"
#include "../parts/split_pieces.cuh"

namespace matmul {

run_split_inside_if_of run_split_inside_if; // split_inside.cu
run_warp_tiles_if_of run_warp_tiles_if;     // warp_tiles.cu

__global__ void split_clear(unsigned *findings, int products, unsigned bits, unsigned *arrivals, int counters) {
    let_next_grid_begin();
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (int i = thread; i < products; i += threads) findings[i] = bits;
    for (int i = thread; i < counters; i += threads) arrivals[i] = 0;
}

namespace {

// The kernels of some products of the stack.
int run_some(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error, bool fp16,
             const operand_stack<float, false> &stack, int64_t products) {
    const operands<float, false> &first = stack.first;
    const int64_t m = first.m, n = first.n, k = first.k;
    const directions along_k = directions_of(call, plan);
    // (The first launch of its call, although it is early: it waits for what is before.)
    if (k == 0) return run_warp_tiles_if(stack, products, along_k, nullptr, 0u, context, error);
    const split_tiling in_fp16 = fp16 ? split_fp16_tiling(call, products) : split_tiling{};
    const split_tiling in_bf16 = split_bf16_tiling(call, products, !fp16);
    const split_workspace at = split_workspace_of(call, products);
    char *const workspace = static_cast<char *>(context->workspace);
    unsigned *const arrivals = reinterpret_cast<unsigned *>(workspace + at.arrivals);
    split_operands split = {};
    split.findings = reinterpret_cast<unsigned *>(workspace + at.findings);
    split.k = static_cast<int>(k), split.products = static_cast<int>(products), split.pitch = split_pitch(call);
    split.stack.axes = stack.axes;
    for (int i = 0; i < stack.axes; ++i) {
        const stack_axis &axis = stack.axis[i];
        split.stack.axis[i] = {axis.length, {axis.a, axis.b, axis.c}};
    }
    const operand_stack<float, false> sides[] = {stack, stack.transposed()}; // B's columns are lines like A's rows
    for (int i = 0; i < 2; ++i) {
        const auto &matrix = sides[i].first.a;
        const int64_t line_stride = matrix.row_stride, k_stride = matrix.column_stride;
        bool aligned = (k_stride == 1 ? line_stride % 4 == 0 : line_stride == 1 && k_stride % 4 == 0) &&
                       reinterpret_cast<uintptr_t>(matrix.data) % 16 == 0;
        for (int axis = 0; axis < stack.axes; ++axis) aligned = aligned && sides[i].axis[axis].a % 4 == 0;
        split.side[i] = {matrix.data,
                         line_stride,
                         k_stride,
                         static_cast<int>(sides[i].first.m),
                         aligned,
                         workspace + at.side[i].pieces,
                         reinterpret_cast<float *>(workspace + at.side[i].factors)};
    }
    const auto product_of = [&](const split_tiling &tiling) {
        split_product_operands op = {};
        op.c = first.c.data, op.row_stride = first.c.row_stride, op.column_stride = first.c.column_stride;
        op.m = static_cast<int>(m), op.n = static_cast<int>(n), op.k = split.k;
        op.products = split.products, op.findings = split.findings, op.arrivals = arrivals;
        op.a_factors = split.side[0].factors, op.b_factors = split.side[1].factors;
        op.all = tiling.all, op.sums = reinterpret_cast<float *>(workspace + at.sums);
        op.stack = split.stack;
        return op;
    };

    // As many blocks as fit on the multiprocessors, which visit the tiles of both operands.
    const int slabs = split_slabs(split.k);
    const int64_t tiles = product(pieces_tiles(split.side[0].lines) + pieces_tiles(split.side[1].lines), slabs);
    const int64_t most = PIECES_BLOCKS * static_cast<int64_t>(call->limits->multiprocessors);
    const dim3 grid(static_cast<unsigned>(smaller(tiles, most)), static_cast<unsigned>(products));
    const auto launch_pieces = [&](auto kernel) {
        return ck_launch_early(0, context, error, "split_pieces", kernel, grid, dim3(PIECES_THREADS), 0, split);
    };
    const int64_t fp16_counters = split_arrivals(in_fp16.all), bf16_counters = split_arrivals(in_bf16.all);
    CK_TRY(ck_launch(context, error, "split_clear", split_clear, dim3(1), dim3(512), 0, split.findings,
                     split.products, fp16 ? 0u : static_cast<unsigned>(FOUND_NOT_FP16), arrivals,
                     static_cast<int>(fp16_counters > bf16_counters ? fp16_counters : bf16_counters)));
    if (fp16) {
        CK_TRY(launch_pieces(split_pieces<__half>));
        const auto run = in_fp16.columns == 208   ? run_split_fp16_208
                         : in_fp16.columns == 128 ? run_split_fp16_128
                                                  : run_split_fp16_64;
        CK_TRY(run(split, product_of(in_fp16), context, error));
        // Six products, should the check fail. One launch takes 3 us less than three, even if it need not run, which
        // is worth some 30 us in a case that is rare, and it writes no pieces, which are ten bytes of traffic for
        // each element. Large products are faster with them.
        const cluster_tiling inside = split_inside_fallback(call);
        const double elements = static_cast<double>(product(product(m + n, k), products));
        if (inside.time < 50 + elements * 10 / 3.5e6 + in_bf16.time)
            return run_split_inside_if(inside, stack, products, along_k, split.findings, context, error);
    }
    CK_TRY(launch_pieces(split_pieces<__nv_bfloat16>));
    const auto run = in_bf16.columns == 128 ? run_split_bf16_128 : run_split_bf16_64;
    CK_TRY(run(split, product_of(in_bf16), context, error));
    return run_warp_tiles_if(stack, products, along_k, split.findings, FOUND_NOT_BF16, context, error);
}

int run_split(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error, bool fp16) {
    if (empty(call)) return CK_OK;
    return in_parts(first_operands<float, false>(call), axes_of<float>(call), split_products_at_once(call),
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

// The launches of "split_few_rows". The table is in matmul.cu.
#include "split_few_rows.cuh"

#include "split_inside_plans.cuh"

namespace matmul {

CK_RUN(split_few_rows) {
    if (empty(call)) return CK_OK;
    const split_few_tiling tiling = split_few_tiling_of(call);
    const bool transposed = rows(call) < columns(call);
    const operands<float, false> own = first_operands<float, false>(call), first = transposed ? own.transposed() : own;
    const stack_axes axes = transposed ? axes_of<float>(call).transposed() : axes_of<float>(call);
    const auto kernel = tiling.rows == 8    ? split_few_rows<split_few_size<8>>
                        : tiling.rows == 16 ? split_few_rows<split_few_size<16>>
                                            : split_few_rows<split_few_size<32>>;
    const group_sums sums = group_sums_of(call, plan, context);
    CK_TRY(in_parts(first, axes, plan->grid[2], [&](const operand_stack<float, false> &stack, int64_t count) {
        return ck_launch_cluster(static_cast<int>(tiling.parts), context, error, "split_few_rows", kernel,
                                 dim3(plan->grid[0], 1, static_cast<unsigned>(count)), ck_dim3(plan->block),
                                 plan->shared_bytes, stack, sums);
    }));
    return launch_add_groups<float>(call, sums, context, error, transposed);
}

} // namespace matmul

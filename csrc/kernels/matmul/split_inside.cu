// The launches of "split_inside". The table is in matmul.cu.
#include "split_inside_plans.cuh"

namespace matmul {

CK_RUN(split_inside) {
    if (empty(call)) return CK_OK;
    const auto [width, tiles, parts, groups, transposed, time] = split_inside_tiling_of(call);
    const bool wide = width == 128, turned = transposed;
    const int size = static_cast<int>(parts);
    const operands<float, false> own = first_operands<float, false>(call);
    const operands<float, false> first = turned ? own.transposed() : own;
    const stack_axes axes = turned ? axes_of<float>(call).transposed() : axes_of<float>(call);
    const group_sums sums = group_sums_of(call, plan, context);
    CK_TRY(with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        const auto kernel =
            wide ? (turned ? split_inside<split_inside_128, B, A> : split_inside<split_inside_128, A, B>)
                 : (turned ? split_inside<split_inside_64, B, A> : split_inside<split_inside_64, A, B>);
        return in_parts(first, axes, plan->grid[2], [&](const operand_stack<float, false> &stack, int64_t count) {
            return ck_launch_cluster(size, context, error, "split_inside", kernel,
                                     dim3(plan->grid[0], 1, static_cast<unsigned>(count)), ck_dim3(plan->block),
                                     plan->shared_bytes, stack, sums);
        });
    }));
    return launch_add_groups<float>(call, sums, context, error, turned);
}

} // namespace matmul

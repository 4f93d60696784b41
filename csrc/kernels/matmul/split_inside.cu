// The launches of "split_inside". The table is in matmul.cu.
#include "split_inside.cuh"

#include "group_launches.cuh"

namespace matmul {

CK_RUN(split_inside) {
    if (empty(call)) return CK_OK;
    const operands<float, false> first = first_operands<float, false>(call);
    // The plan has the workspace for each group, the blocks of all clusters, and all products in z.
    const bool wide = plan->shared_bytes == split_inside_128::SHARED_BYTES;
    const group_sums sums = group_sums_of(call, plan, context);
    const int64_t tiles = product(divide_up(first.m, split_inside_128::ROWS), divide_up(first.n, wide ? 128 : 64));
    const int parts = static_cast<int>(plan->grid[0] / tiles / sums.groups);
    CK_TRY(with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return in_parts(first, axes_of<float>(call), plan->grid[2],
                        [&](const operand_stack<float, false> &stack, int64_t count) {
                            return ck_launch_cluster(parts, context, error, "split_inside",
                                                     wide ? split_inside<split_inside_128, A, B>
                                                          : split_inside<split_inside_64, A, B>,
                                                     dim3(plan->grid[0], 1, static_cast<unsigned>(count)),
                                                     ck_dim3(plan->block), plan->shared_bytes, stack, sums);
                        });
    }));
    return launch_add_groups<float>(call, sums, context, error);
}

} // namespace matmul

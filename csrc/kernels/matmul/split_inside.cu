// The launches of "split_inside". The table is in matmul.cu.
#include "split_inside.cuh"

#include "wgmma_launches.cuh"

namespace matmul {

CK_RUN(split_inside) {
    if (empty(call)) return CK_OK;
    const operands<float, false> first = first_operands<float, false>(call);
    // The plan has the workspace for each group, the blocks of all clusters, and all products in z.
    const bool wide = plan->shared_bytes == split_inside_128::SHARED_BYTES;
    const int64_t elements = product(product(first.m, first.n), products(call));
    const int64_t groups = plan->workspace_bytes ? static_cast<int64_t>(plan->workspace_bytes) / 4 / elements : 1;
    const int64_t tiles = product(divide_up(first.m, split_inside_128::ROWS), divide_up(first.n, wide ? 128 : 64));
    const int parts = static_cast<int>(plan->grid[0] / tiles / groups);
    const group_sums sums = {static_cast<float *>(context->workspace), static_cast<int>(groups)};
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
    if (groups == 1) return CK_OK;
    return ck_launch(context, error, "add_groups", add_groups<float>,
                     dim3(static_cast<unsigned>(divide_up(elements, 256))), dim3(256), 0,
                     box_operands_of<float>(call), sums);
}

} // namespace matmul

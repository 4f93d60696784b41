// The launches of "wgmma_split": a unit of its own, for parallel builds.
#include "group_launches.cuh"
#include "wgmma_split.cuh"

namespace matmul {

CK_RUN(wgmma_split) {
    if (empty(call)) return CK_OK;
    const bool wide = plan->shared_bytes == wgmma_split_128::SHARED_BYTES;
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        const box_operands<T> operands = box_operands_of<T>(call);
        const int64_t tiles =
            product(product(divide_up(operands.m, wgmma_split_128::ROWS), divide_up(operands.n, wide ? 128 : 64)),
                    operands.products);
        // The plan has the workspace for each group and the blocks of all clusters.
        const group_sums sums = group_sums_of(call, plan, context);
        CK_TRY(ck_launch_cluster(static_cast<int>(plan->grid[0] / tiles / sums.groups), context, error, "wgmma_split",
                                 wide ? wgmma_split<T, wgmma_split_128, A, B> : wgmma_split<T, wgmma_split_64, A, B>,
                                 ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes,
                                 ck_bound_map(context->bound[0]), ck_bound_map(context->bound[1]), operands, sums));
        return launch_add_groups<T>(call, sums, context, error);
    });
}

} // namespace matmul

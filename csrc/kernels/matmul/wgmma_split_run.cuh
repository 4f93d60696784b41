// The launches of "wgmma_split" for one width of tiles.
#ifndef CK_MATMUL_WGMMA_SPLIT_RUN_CUH
#define CK_MATMUL_WGMMA_SPLIT_RUN_CUH

#include "wgmma_split_plans.cuh"

namespace matmul {

template <typename size>
int run_wgmma_split_of(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    const wgmma_split_tiling tiling = wgmma_split_tiling_of(call);
    const bool transposed = tiling.transposed;
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        const box_operands<T> own = box_operands_of<T>(call), operands = transposed ? own.transposed() : own;
        const group_sums sums = group_sums_of(call, plan, context);
        CK_TRY(ck_launch_cluster(static_cast<int>(tiling.parts), context, error, "wgmma_split",
                                 transposed ? wgmma_split<T, size, B, A> : wgmma_split<T, size, A, B>,
                                 ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes,
                                 ck_bound_map(context->bound[0]), ck_bound_map(context->bound[1]), operands, sums));
        return launch_add_groups<T>(call, sums, context, error, transposed);
    });
}

} // namespace matmul

#endif

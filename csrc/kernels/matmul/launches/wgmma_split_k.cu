// The launches of "wgmma_split_k": a unit of its own, for parallel builds.
#include "../plans/wgmma_split_k.cuh"

namespace matmul {

CK_RUN(wgmma_split_k) {
    if (empty(call)) return CK_OK;
    const cluster_tiling tiling = wgmma_split_tiling_of(call);
    const bool wide = tiling.columns == 128, transposed = tiling.transposed;
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        const auto kernel =
            wide
                ? (transposed ? wgmma_split_k<T, wgmma_split_k_128, B, A> : wgmma_split_k<T, wgmma_split_k_128, A, B>)
                : (transposed ? wgmma_split_k<T, wgmma_split_k_64, B, A> : wgmma_split_k<T, wgmma_split_k_64, A, B>);
        const box_operands<T> own = box_operands_of<T>(call), operands = transposed ? own.transposed() : own;
        const group_sums sums = group_sums_of(call, plan, context, transposed);
        CK_TRY(ck_launch_cluster(static_cast<int>(tiling.parts), context, error, "wgmma_split_k", kernel,
                                 ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes,
                                 ck_bound_map(context->bound[0]), ck_bound_map(context->bound[1]), operands, sums));
        return launch_add_groups<T>(call, sums, context, error);
    });
}

} // namespace matmul

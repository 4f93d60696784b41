// The launches of "wgmma_groups". The table is in matmul.cu.
#include "../plans/wgmma_groups.cuh"

namespace matmul {

CK_RUN(wgmma_groups) {
    if (empty(call)) return CK_OK;
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        const auto kernel =
            wgmma_groups<T, wgmma_groups_size, decltype(a_along_k)::value, decltype(b_along_k)::value>;
        const group_sums sums = group_sums_of(call, plan, context);
        CK_TRY(ck_launch_cluster(PAIR, context, error, "wgmma_groups", kernel, ck_dim3(plan->grid),
                                 ck_dim3(plan->block), plan->shared_bytes, ck_bound_map(context->bound[0]),
                                 ck_bound_map(context->bound[1]), box_operands_of<T>(call), sums));
        return launch_add_groups<T>(call, sums, context, error);
    });
}

} // namespace matmul

// The launches of the variants whose operands must be contiguous along k. The table is in matmul.cu.
#include "../ladder/40_wgmma_int8.cuh"
#include "../ladder/30_wgmma_tf32.cuh"

#include "../plans/hopper.cuh"
#include "hopper.cuh"

namespace matmul {

namespace {

template <typename T>
int launch_along_k(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    using Total = wgmma_total<T>;
    if (empty(call)) return CK_OK;
    const int64_t width = width_along_k(call);
    const auto kernel = width == 256   ? wgmma_along_k<T, Total, wgmma_along_k_256>
                        : width == 128 ? wgmma_along_k<T, Total, wgmma_along_k_128>
                                       : wgmma_along_k<T, Total, wgmma_along_k_64>;
    return ck_launch_cluster(PAIR, context, error, "wgmma_along_k", kernel, ck_dim3(plan->grid), ck_dim3(plan->block),
                             plan->shared_bytes, ck_bound_map(context->bound[0]), ck_bound_map(context->bound[1]),
                             box_operands_of<T, Total>(call));
}

} // namespace

CK_RUN(wgmma_tf32) {
    return launch_along_k<float>(call, plan, context, error);
}

CK_RUN(wgmma_int8) {
    return launch_along_k<int8_t>(call, plan, context, error);
}

} // namespace matmul

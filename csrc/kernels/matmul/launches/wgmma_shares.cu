// The launches of "wgmma_shares". The table is in matmul.cu.
#include "../plans/wgmma_shares.cuh"

namespace matmul {

ck_run run_wgmma_multicast_256; // wgmma_persistent.cu

namespace {

__global__ void shares_clear(unsigned *arrivals, int count) {
    let_next_grid_begin();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) arrivals[i] = 0;
}

} // namespace

CK_RUN(wgmma_shares) {
    if (empty(call)) return CK_OK;
    if (inner(call) == 0) return run_wgmma_multicast_256(call, plan, context, error); // whole tiles of zeros
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        const split_pairs all = wgmma_shares_of(call).all;
        unsigned *const arrivals = static_cast<unsigned *>(context->workspace);
        const int64_t count = wgmma_arrivals(all);
        const bool shared = all.whole < all.pairs;
        if (shared)
            CK_TRY(ck_launch(context, error, "shares_clear", shares_clear, dim3(1), dim3(512), 0, arrivals,
                             static_cast<int>(count)));
        box_operands<T> operands = box_operands_of<T>(call);
        operands.store_boxes = plan->bindings[2].kind == CK_BIND_TENSOR_MAP;
        const auto kernel =
            wgmma_shares<T, wgmma_shares_size, decltype(a_along_k)::value, decltype(b_along_k)::value>;
        return ck_launch_with({0, PAIR, shared}, context, error, "wgmma_shares", kernel, ck_dim3(plan->grid),
                              ck_dim3(plan->block), plan->shared_bytes, ck_bound_map(context->bound[0]),
                              ck_bound_map(context->bound[1]), ck_bound_map(context->bound[2]), operands,
                              wgmma_parts{all, reinterpret_cast<float *>(arrivals + count), arrivals});
    });
}

} // namespace matmul

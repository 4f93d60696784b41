// The launches of the variants that use Hopper's wgmma and TMA. The table is in matmul.cu.
#include "../ladder/22_wgmma_tiles.cuh"
#include "../ladder/23_wgmma_producer.cuh"

#include "hopper.cuh"
#include "../plans/hopper.cuh"

namespace matmul {

namespace {

// One launch for all products, or several where a grid has too few blocks in z.
template <typename T, typename Kernel>
int launch_tiles(Kernel kernel, const char *name, const ck_call *call, const ck_plan *plan, const ck_context *context,
                 ck_error *error) {
    if (empty(call)) return CK_OK;
    box_operands<T> operands = box_operands_of<T>(call);
    for (int64_t left = operands.products; left > 0; left -= plan->grid[2], operands.first += plan->grid[2]) {
        const dim3 grid(plan->grid[0], 1, static_cast<unsigned>(smaller(left, plan->grid[2])));
        CK_TRY(ck_launch(context, error, name, kernel, grid, ck_dim3(plan->block), plan->shared_bytes,
                         ck_bound_map(context->bound[0]), ck_bound_map(context->bound[1]), operands));
    }
    return CK_OK;
}

} // namespace

CK_RUN(wgmma_tiles) {
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        return launch_tiles<T>(wgmma_tiles<T, decltype(a_along_k)::value, decltype(b_along_k)::value>, "wgmma_tiles",
                               call, plan, context, error);
    });
}

CK_RUN(wgmma_producer) {
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        return launch_tiles<T>(wgmma_producer<T, decltype(a_along_k)::value, decltype(b_along_k)::value>,
                               "wgmma_producer", call, plan, context, error);
    });
}

ck_run run_wgmma_persistent_256, run_wgmma_persistent_192, run_wgmma_persistent_128,
    run_wgmma_persistent_64; // wgmma_persistent.cu
ck_run run_wgmma_multicast_256, run_wgmma_multicast_192, run_wgmma_multicast_128,
    run_wgmma_multicast_64; // wgmma_persistent.cu

CK_RUN(wgmma_persistent) {
    const int64_t width = persistent_width(call);
    const auto run = width == 256   ? run_wgmma_persistent_256
                     : width == 192 ? run_wgmma_persistent_192
                     : width == 128 ? run_wgmma_persistent_128
                                    : run_wgmma_persistent_64;
    return run(call, plan, context, error);
}

CK_RUN(wgmma_multicast) {
    const int64_t width = multicast_width(call);
    const auto run = width == 256   ? run_wgmma_multicast_256
                     : width == 192 ? run_wgmma_multicast_192
                     : width == 128 ? run_wgmma_multicast_128
                                    : run_wgmma_multicast_64;
    return run(call, plan, context, error);
}

} // namespace matmul

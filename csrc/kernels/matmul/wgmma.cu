// The launches of the variants that use Hopper's wgmma and TMA. The table is in matmul.cu.
#include "wgmma_tiles.cuh"
#include "wgmma_producer.cuh"
#include "wgmma_persistent.cuh"

#include "launches.cuh"

namespace matmul {

namespace {

template <typename T> box_operands<T> box_operands_of(const ck_call *call) {
    const auto first = first_operands<T, false>(call);
    const stack_axes axes = axes_of<T>(call);
    box_operands<T> operands = {first.c,
                                static_cast<int>(first.m),
                                static_cast<int>(first.n),
                                static_cast<int>(first.k),
                                0,
                                static_cast<int>(products(call)),
                                axes.count,
                                {}};
    for (int i = 0; i < axes.count && i < STACK_AXES; ++i) operands.axis[i] = axes.axis[i];
    return operands;
}

// visit(element, a_along_k, b_along_k)
template <typename Visit> int with_halves(const ck_call *call, const ck_plan *plan, ck_error *error, Visit visit) {
    return with_type<CK_FLOAT16, CK_BFLOAT16>(call, error, [&](auto element) {
        return with_directions(call, plan,
                               [&](auto a_along_k, auto b_along_k) { return visit(element, a_along_k, b_along_k); });
    });
}

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

CK_RUN(wgmma_persistent) {
    if (empty(call)) return CK_OK;
    const bool boxes = plan->bindings[2].kind == CK_BIND_TENSOR_MAP;
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return ck_launch(context, error, "wgmma_persistent",
                         boxes ? wgmma_persistent<T, A, B, true> : wgmma_persistent<T, A, B, false>,
                         ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes,
                         ck_bound_map(context->bound[0]), ck_bound_map(context->bound[1]),
                         ck_bound_map(context->bound[2]), box_operands_of<T>(call));
    });
}

} // namespace matmul

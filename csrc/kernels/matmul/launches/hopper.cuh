// What the launches of the variants with wgmma share.
#ifndef CK_MATMUL_LAUNCHES_HOPPER_CUH
#define CK_MATMUL_LAUNCHES_HOPPER_CUH

#include "../parts/box_slabs.cuh"
#include "common.cuh"

namespace matmul {

template <typename T, typename Result = T> box_operands<Result> box_operands_of(const ck_call *call) {
    const ck_view &c = call->views[2];
    const stack_axes axes = axes_of<T, Result>(call);
    box_operands<Result> operands = {{static_cast<Result *>(c.data), step<Result>(c, 2), step<Result>(c, 1)},
                                     static_cast<int>(rows(call)),
                                     static_cast<int>(columns(call)),
                                     static_cast<int>(inner(call)),
                                     0,
                                     static_cast<int>(products(call)),
                                     axes.count,
                                     0,
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

} // namespace matmul

#endif

// The launches of "one_launch". The table is in sum_of_squares.cu.
#include "../ladder/14_one_launch.cuh"

#include "common.cuh"

namespace sum_of_squares {

CK_RUN(one_launch) {
    return with_every_type(call, error, [&](auto element) -> int {
        using In = decltype(element);
        using Out = sum_of<In>;
        using Acc = std::conditional_t<std::is_same_v<Out, float>, double, Out>;
        return ck_launch(context, error, "one_launch", one_launch<In, Acc, Out>, ck_dim3(plan->grid),
                         ck_dim3(plan->block), 0, input<In>(call, 0), length(call),
                         block_sums<Acc>::in(context->workspace), output<Out>(call));
    });
}

} // namespace sum_of_squares

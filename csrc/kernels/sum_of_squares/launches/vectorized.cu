// The launches of "vectorized" and of the variants after it. The table is in sum_of_squares.cu.
#include "../ladder/11_vectorized.cuh"
#include "../ladder/12_atomic.cuh"
#include "../ladder/13_cooperative.cuh"

#include "common.cuh"

namespace sum_of_squares {

SUM(vectorized, with_every_type, context->partials)
SUM(atomic, with_main_type, output<void>(call))

CK_RUN(cooperative) {
    return with_main_type(call, error, [&](auto element) -> int {
        using In = decltype(element);
        using Acc = sum_of<In>;
        const auto kernel = cooperative<In, Acc>;
        int resident = 0; // blocks per multiprocessor; the launch would fail too, but without stating how many fit
        CK_CUDA(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                           &resident, kernel, static_cast<int>(plan->block[0]), plan->shared_bytes));
        const long long most = static_cast<long long>(resident) * call->limits->multiprocessors;
        if (plan->grid[0] > most)
            return ck_fail(error, CK_BAD_VALUE,
                           "blocks=%u, but all blocks must be resident at once, and this device can hold only %lld "
                           "blocks of %u threads",
                           plan->grid[0], most, plan->block[0]);
        return ck_launch_cooperative(context, error, "cooperative", kernel, ck_dim3(plan->grid), ck_dim3(plan->block),
                                     plan->shared_bytes, input<In>(call, 0), length(call),
                                     static_cast<Acc *>(context->workspace), output<Acc>(call));
    });
}

} // namespace sum_of_squares

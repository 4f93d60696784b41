// extent: the minimum and the maximum of an array of integers. Views: x, contiguous, and the two results.
#include "blocks.cuh"

#include <limits>

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace extent {
namespace {

int plan_blocks(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t threads = call->parameters[0];
    if (elements_of(call->views[1]) != 2)
        return ck_fail(error, CK_BAD_VALUE, "the output must have 2 elements, minimum and maximum, not %lld",
                       static_cast<long long>(elements_of(call->views[1])));
    CK_TRY(plan_row(call, plan, error, blocks_for_chip(call, length(call), threads), threads));
    plan->workspace_bytes = plan->grid[0] * sizeof(range<uint64_t>);
    return CK_OK;
}

// Comparisons depend on the sign, so all types except uint64 are compared as int64.
template <typename T> using widest = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;

CK_RUN(blocks) {
    return with_type<CK_INTEGERS>(call, error, [&](auto element) -> int {
        using In = decltype(element);
        using T = widest<In>;
        const range<T> none = {std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
        const dim3 grid = ck_dim3(plan->grid), block = ck_dim3(plan->block);
        auto *const ranges = static_cast<range<T> *>(context->workspace);
        CK_TRY(ck_launch(context, error, "blocks", blocks<In, T>, grid, block, 0, input<In>(call, 0), length(call),
                         none, ranges));
        return ck_launch(context, error, "of_blocks", of_blocks<T>, dim3(1), block, 0, ranges,
                         static_cast<int64_t>(plan->grid[0]), none, output<T>(call));
    });
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = 2 * n;
    work->bytes = n * static_cast<double>(ck_dtype_size(call->types.input)) +
                  2 * static_cast<double>(ck_dtype_size(call->types.output));
}

#define CK_FOLDER "extent/"
#define EXTENT_TYPES                                                                                                 \
    TYPES(I32_I64_I64, I64_I64_I64, WIDENED(BOOL, INT64), WIDENED(INT8, INT64), WIDENED(UINT8, INT64),               \
          WIDENED(INT16, INT64), WIDENED(UINT16, INT64), WIDENED(UINT32, INT64), SAME(UINT64))

const ck_variant variants[] = {
    VARIANT(blocks, FIRST, AT_LEAST(60), EXTENT_TYPES, NONE, CK_DETERMINISTIC, PARAMETERS(WHOLE_WARPS), exact,
            KERNELS("blocks", "of_blocks"), "Minimum and maximum per block, then of all blocks",
            "One pass over memory can compute both", "needed by bincount"),
};

} // namespace
} // namespace extent

CK_OPERATION(extent, "The minimum and the maximum of an array of integers", 1, 1)

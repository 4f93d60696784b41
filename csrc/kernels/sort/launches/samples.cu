// The plans and launches of the sample sorts. The table is in sort.cu.
#include "../ladder/07_sample_sort_sequential.cuh"
#include "../ladder/08_sample_sort.cuh"
#include "sample_sort.cuh"

#include "common.cuh"

namespace sort {
namespace {

template <typename Search>
int enqueue_sample_sort_of(const ck_call *call, const ck_context *context, workspace_cursor *space, ck_error *error) {
    return with_key_type(call, error, [&](auto element) {
        using T = decltype(element);
        return enqueue_sample_sort<T, T, Search>(context, error, input<T>(call, 0), output<T>(call), length(call),
                                                 call->parameters[0], space);
    });
}

enum { SCATTER_STATIC_BYTES = 128 };

template <typename Search> int plan_samples(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, error));
    const int64_t n = length(call);
    const sample_shape shape(n, call->parameters[0]);
    const int64_t tiles = divide_up(n, TILE_KEYS);
    CK_TRY(plan_row(call, plan, error, shape.leaves > tiles ? shape.leaves : tiles, TILE_THREADS));
    workspace_cursor space = {nullptr};
    CK_TRY(enqueue_sample_sort_of<Search>(call, nullptr, &space, error));
    plan->workspace_bytes = static_cast<size_t>(space.used);
    if (shape.levels == 0) return CK_OK;
    plan->grid[0] = static_cast<unsigned>(tiles); // the launch that is reported is the scatter
    plan->shared_bytes = scatter_shared_bytes(Search::words(shape.bins), 2 * shape.bins);
    if (plan->shared_bytes + SCATTER_STATIC_BYTES > call->limits->shared_per_block_optin)
        return ck_fail(
            error, CK_BAD_VALUE,
            "%d bins per level need %zu bytes of shared memory, but a block on this device has only %zu bytes. "
            "Use fewer bins, for example bins=64, which takes more levels",
            shape.bins, plan->shared_bytes, call->limits->shared_per_block_optin);
    return CK_OK;
}

template <typename Search>
int run_samples(const ck_call *call, const ck_plan *, const ck_context *context, ck_error *error) {
    workspace_cursor space = {static_cast<char *>(context->workspace)};
    return enqueue_sample_sort_of<Search>(call, context, &space, error);
}

} // namespace

int plan_sample_sort_sequential(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_samples<sequential_search>(call, plan, error);
}
int plan_sample_sort(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_samples<binary_search>(call, plan, error);
}

CK_RUN(sample_sort_sequential) {
    return run_samples<sequential_search>(call, plan, context, error);
}
CK_RUN(sample_sort) {
    return run_samples<binary_search>(call, plan, context, error);
}

} // namespace sort

// The host's part of add_groups.cuh: the workspace for the sums of the groups, in plans and at the launch.
#ifndef CK_MATMUL_LAUNCHES_GROUPS_CUH
#define CK_MATMUL_LAUNCHES_GROUPS_CUH

#include "../parts/add_groups.cuh"

#include "hopper.cuh"

namespace matmul {

// The results of all products.
inline int64_t all_results(const ck_call *call) {
    return product(product(rows(call), columns(call)), products(call));
}

// Clusters of `size` blocks that can run at once. Not every part of the chip has a multiple of four or eight
// multiprocessors: of an H200's 132, 30 clusters of four or 14 of eight run at once (measured).
inline int64_t clusters_at_once(const ck_call *call, int64_t size) {
    const int64_t even = call->limits->multiprocessors / size;
    return even - (size > 2 ? divide_up(even * size, 64) : 0);
}

// In a plan: workspace for that many groups.
inline int plan_groups(const ck_call *call, ck_plan *plan, ck_error *error, int64_t groups) {
    if (groups <= 1) return CK_OK;
    if (rows(call) > INT32_MAX || columns(call) > INT32_MAX)
        return ck_fail(error, CK_BAD_VALUE, "m and n must be at most %lld where groups of clusters divide k",
                       static_cast<long long>(INT32_MAX));
    plan->workspace_bytes = static_cast<size_t>(all_results(call) * groups) * sizeof(float);
    return CK_OK;
}

// At the launch, for a C that is not empty: as many groups as the plan has workspace for.
inline group_sums group_sums_of(const ck_call *call, const ck_plan *plan, const ck_context *context,
                                bool transposed = false) {
    const int64_t floats = static_cast<int64_t>(plan->workspace_bytes / sizeof(float));
    return {static_cast<float *>(context->workspace), floats > 0 ? static_cast<int>(floats / all_results(call)) : 1,
            transposed};
}

// The last step: a second launch, if there are groups to add.
template <typename T>
int launch_add_groups(const ck_call *call, const group_sums &sums, const ck_context *context, ck_error *error) {
    if (sums.groups == 1) return CK_OK;
    const int early = call->limits->capability >= 90 && call->limits->exact; // see ck_launch_early
    return ck_launch_with({0, 0, early}, context, error, "add_groups", add_groups<T>,
                          dim3(static_cast<unsigned>(divide_up(all_results(call), 256))), dim3(256), 0,
                          box_operands_of<T>(call), sums);
}

} // namespace matmul

#endif

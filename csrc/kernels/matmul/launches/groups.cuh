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

// The bytes of a group's sum of one result.
inline size_t bytes_of_sum(const ck_call *call) {
    return call->types.input == CK_FLOAT64 ? sizeof(double) : sizeof(float);
}

// In a plan: workspace for that many groups.
inline int plan_groups(const ck_call *call, ck_plan *plan, ck_error *error, int64_t groups) {
    if (groups <= 1) return CK_OK;
    if (rows(call) > INT32_MAX || columns(call) > INT32_MAX)
        return ck_fail(error, CK_BAD_VALUE, "m and n must be at most %lld where groups of clusters divide k",
                       static_cast<long long>(INT32_MAX));
    plan->workspace_bytes = static_cast<size_t>(all_results(call) * groups) * bytes_of_sum(call);
    return CK_OK;
}

// At the launch, for a C that is not empty: as many groups as the plan has workspace for.
template <typename Sum = float>
partial_sums<Sum> group_sums_of(const ck_call *call, const ck_plan *plan, const ck_context *context,
                                bool transposed = false) {
    const int64_t sums = static_cast<int64_t>(plan->workspace_bytes / sizeof(Sum));
    return {static_cast<Sum *>(context->workspace), sums > 0 ? static_cast<int>(sums / all_results(call)) : 1,
            transposed};
}

// The last step: a second launch, if there are groups to add.
template <typename T>
int launch_add_groups(const ck_call *call, const partial_sums<number<T>> &sums, const ck_context *context,
                      ck_error *error) {
    if (sums.groups == 1) return CK_OK;
    const int early = call->limits->capability >= 90 && call->limits->exact; // see ck_launch_early
    return ck_launch_with({0, 0, early}, context, error, "add_groups", add_groups<T>,
                          dim3(static_cast<unsigned>(divide_up(all_results(call), 256))), dim3(256), 0,
                          box_operands_of<T>(call), sums);
}

// Both launches of a kernel whose clusters divide k (cluster_part). The plan has the workspace for each group, the
// blocks of all clusters, and all products in z.
template <typename Size, typename T, typename Kernel, typename... Own>
int launch_parts(Kernel kernel, const char *name, const operands<T, false> &first, const ck_call *call,
                 const ck_plan *plan, const ck_context *context, ck_error *error, bool transposed = false,
                 Own... own_arguments) {
    if (empty(call)) return CK_OK;
    const partial_sums<number<T>> sums = group_sums_of<number<T>>(call, plan, context, transposed);
    const int64_t m = transposed ? first.n : first.m, n = transposed ? first.m : first.n;
    const int64_t tiles = product(divide_up(m, Size::ROWS), divide_up(n, Size::COLUMNS));
    const int parts = static_cast<int>(plan->grid[0] / tiles / sums.groups);
    CK_TRY(in_parts(first, axes_of<T>(call), plan->grid[2], [&](const operand_stack<T, false> &own, int64_t count) {
        return ck_launch_cluster(parts, context, error, name, kernel,
                                 dim3(plan->grid[0], 1, static_cast<unsigned>(count)), ck_dim3(plan->block),
                                 plan->shared_bytes, transposed ? own.transposed() : own, sums, own_arguments...);
    }));
    return launch_add_groups<T>(call, sums, context, error);
}

} // namespace matmul

#endif

// The launches of "split_inside". The table is in matmul.cu.
#include "split_inside_plans.cuh"

namespace matmul {

run_split_inside_if_of run_split_inside_if;

namespace {

// Calls launch(kernel, operands): those of C, or of C^T if it is `turned`.
template <typename Launch>
int with_inside_kernel(const operand_stack<float, false> &stack, bool a_along_k, bool b_along_k,
                       const cluster_tiling &tiling, Launch launch) {
    const bool wide = tiling.columns == 128, turned = tiling.transposed;
    const bool a = turned ? b_along_k : a_along_k, b = turned ? a_along_k : b_along_k;
    const auto kernel =
        wide ? (a ? (b ? split_inside<split_inside_128, true, true> : split_inside<split_inside_128, true, false>)
                  : (b ? split_inside<split_inside_128, false, true> : split_inside<split_inside_128, false, false>))
             : (a ? (b ? split_inside<split_inside_64, true, true> : split_inside<split_inside_64, true, false>)
                  : (b ? split_inside<split_inside_64, false, true> : split_inside<split_inside_64, false, false>));
    return launch(kernel, turned ? stack.transposed() : stack);
}

} // namespace

CK_RUN(split_inside) {
    if (empty(call)) return CK_OK;
    const cluster_tiling tiling = split_inside_tiling_of(call);
    const group_sums sums = group_sums_of(call, plan, context);
    const bool a_along_k = lines_are_rows(call->views[0], plan->layout[0].pitch);
    const bool b_along_k = !lines_are_rows(call->views[1], plan->layout[1].pitch);
    CK_TRY(in_parts(
        first_operands<float, false>(call), axes_of<float>(call), plan->grid[2],
        [&](const operand_stack<float, false> &stack, int64_t count) {
            return with_inside_kernel(stack, a_along_k, b_along_k, tiling, [&](auto kernel, const auto &own) {
                return ck_launch_cluster(static_cast<int>(tiling.parts), context, error, "split_inside", kernel,
                                         dim3(plan->grid[0], 1, static_cast<unsigned>(count)), ck_dim3(plan->block),
                                         plan->shared_bytes, own, sums, nullptr);
            });
        }));
    return launch_add_groups<float>(call, sums, context, error, tiling.transposed);
}

int run_split_inside_if(const ck_call *call, const operand_stack<float, false> &stack, int64_t products,
                        bool a_along_k, bool b_along_k, const unsigned *found, const ck_context *context,
                        ck_error *error) {
    const cluster_tiling tiling = split_inside_fallback(call);
    const size_t bytes =
        tiling.columns == 128 ? int(split_inside_128::SHARED_BYTES) : int(split_inside_64::SHARED_BYTES);
    return with_inside_kernel(stack, a_along_k, b_along_k, tiling, [&](auto kernel, const auto &own) {
        const dim3 grid(static_cast<unsigned>(tiling.tiles * tiling.parts), 1, static_cast<unsigned>(products));
        return ck_launch_early(static_cast<int>(tiling.parts), context, error, "split_inside", kernel, grid,
                               dim3(split_inside_128::THREADS), bytes, own, group_sums{nullptr, 1}, found);
    });
}

} // namespace matmul

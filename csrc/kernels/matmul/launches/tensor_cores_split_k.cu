// The launches of "tensor_cores_split_k". The table is in matmul.cu.
#include "../ladder/21_tensor_cores_split_k.cuh"

#include "groups.cuh"

namespace matmul {

CK_RUN(tensor_cores_split_k) {
    if (empty(call)) return CK_OK;
    using size = tensor_cores_small;
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        // The plan has the workspace for each group, the blocks of all clusters, and all products in z.
        const group_sums sums = group_sums_of(call, plan, context);
        const int64_t tiles = product(divide_up(rows(call), size::ROWS), divide_up(columns(call), size::COLUMNS));
        const int parts = static_cast<int>(plan->grid[0] / tiles / sums.groups);
        CK_TRY(in_parts(operands_of_lines<T>(call), axes_of<T>(call), plan->grid[2],
                        [&](const operand_stack<T, false> &stack, int64_t count) {
                            return ck_launch_cluster(parts, context, error, "tensor_cores_split_k",
                                                     tensor_cores_split_k<T, A, B>,
                                                     dim3(plan->grid[0], 1, static_cast<unsigned>(count)),
                                                     ck_dim3(plan->block), plan->shared_bytes, stack, sums);
                        }));
        return launch_add_groups<T>(call, sums, context, error);
    });
}

} // namespace matmul

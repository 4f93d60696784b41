// The launches of "split_inside". The table is in matmul.cu.
#include "../plans/split_inside.cuh"

namespace matmul {

run_split_inside_if_of run_split_inside_if;

namespace {

// Calls launch(kernel, operands): those of C, or of C^T if the tiling says so.
template <typename Launch>
int with_inside_kernel(const operand_stack<float, false> &stack, const directions &along_k,
                       const cluster_tiling &tiling, Launch launch) {
    const bool turned = tiling.transposed;
    return with_directions(turned ? directions{along_k.b, along_k.a} : along_k, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch(tiling.columns == 128  ? split_inside<split_inside_128, A, B>
                      : tiling.columns == 64 ? split_inside<split_inside_64, A, B>
                                             : split_inside<split_inside_32, A, B>,
                      turned ? stack.transposed() : stack);
    });
}

} // namespace

CK_RUN(split_inside) {
    if (empty(call)) return CK_OK;
    const cluster_tiling tiling = split_inside_tiling_of(call);
    const group_sums sums = group_sums_of(call, plan, context, tiling.transposed);
    const auto launch_some = [&](const operand_stack<float, false> &stack, int64_t count) {
        const dim3 grid(plan->grid[0], 1, static_cast<unsigned>(count));
        return with_inside_kernel(stack, directions_of(call, plan), tiling, [&](auto kernel, const auto &own) {
            return ck_launch_cluster(static_cast<int>(tiling.parts), context, error, "split_inside", kernel, grid,
                                     ck_dim3(plan->block), plan->shared_bytes, own, sums, nullptr);
        });
    };
    CK_TRY(in_parts(first_operands<float, false>(call), axes_of<float>(call), plan->grid[2], launch_some));
    return launch_add_groups<float>(call, sums, context, error);
}

int run_split_inside_if(const cluster_tiling &tiling, const operand_stack<float, false> &stack, int64_t products,
                        const directions &along_k, const unsigned *findings, const ck_context *context,
                        ck_error *error) {
    const dim3 grid(static_cast<unsigned>(tiling.tiles * tiling.parts), 1, static_cast<unsigned>(products));
    const split_inside_block block = split_inside_block_of(tiling);
    return with_inside_kernel(stack, along_k, tiling, [&](auto kernel, const auto &own) {
        return ck_launch_early(static_cast<int>(tiling.parts), context, error, "split_inside", kernel, grid,
                               dim3(block.threads), block.shared_bytes, own, group_sums{nullptr, 1, false}, findings);
    });
}

} // namespace matmul

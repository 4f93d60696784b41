// The launches of "wgmma_split_k" for each width of tiles. The table is in matmul.cu.
#include "../plans/wgmma_split_k.cuh"

namespace matmul {

#define RUN_SPLIT(size)                                                                                              \
    CK_RUN(size) {                                                                                                   \
        const cluster_tiling tiling = wgmma_split_tiling_of(call);                                                   \
        const bool transposed = tiling.transposed;                                                                   \
        return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {                    \
            using T = decltype(element);                                                                             \
            constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;                           \
            const auto kernel = transposed ? wgmma_split_k<T, size, B, A> : wgmma_split_k<T, size, A, B>;            \
            const box_operands<T> own = box_operands_of<T>(call), operands = transposed ? own.transposed() : own;    \
            const group_sums sums = group_sums_of(call, plan, context, transposed);                                  \
            CK_TRY(ck_launch_cluster(static_cast<int>(tiling.parts), context, error, "wgmma_split_k", kernel,        \
                                     ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes,                  \
                                     ck_bound_map(context->bound[0]), ck_bound_map(context->bound[1]), operands,     \
                                     sums));                                                                         \
            return launch_add_groups<T>(call, sums, context, error);                                                 \
        });                                                                                                          \
    }

CK_UNIT(RUN_SPLIT(wgmma_split_k_256))
CK_UNIT(RUN_SPLIT(wgmma_split_k_128))
CK_UNIT(RUN_SPLIT(wgmma_split_k_64))

} // namespace matmul

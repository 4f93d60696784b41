// The plans of "split_fp16", "split_bf16", "split_inside" and "split_small".
#ifndef CK_MATMUL_PLANS_SPLIT_CUH
#define CK_MATMUL_PLANS_SPLIT_CUH

#include "cores.cuh"
#include "split_inside.cuh"
#include "../launches/split.cuh"
#include "split_small.cuh"

namespace matmul {

// A plan has a workspace for the pieces, and the layout that "split_inside" and "warp_tiles" need, which take over if
// the pieces are not good enough.
inline int plan_split(const ck_call *call, ck_plan *plan, ck_error *error, bool fp16) {
    const int64_t at_once = split_products_at_once(call);
    const split_tiling in_bf16 = split_bf16_tiling(call, at_once, !fp16);
    const split_tiling tiling = fp16 ? split_fp16_tiling(call, at_once) : in_bf16;
    CK_TRY(plan_grid(call, plan, error, SPLIT_PAIR * static_cast<int64_t>(tiling.all.clusters), 1,
                     split_fp16_208::THREADS, 1));
    if (rows(call) > SPLIT_MOST || columns(call) > SPLIT_MOST || inner(call) > SPLIT_MOST_K)
        return ck_fail(error, CK_BAD_VALUE, "m and n must be at most %lld for this variant, and k at most %lld",
                       static_cast<long long>(SPLIT_MOST), static_cast<long long>(SPLIT_MOST_K));
    plan->grid[2] = 1;
    const auto bytes_of = [&](auto size) { return static_cast<size_t>(decltype(size)::SHARED_BYTES); };
    if (fp16)
        plan->shared_bytes = tiling.columns == 208   ? bytes_of(split_fp16_208{})
                             : tiling.columns == 128 ? bytes_of(split_fp16_128{})
                                                     : bytes_of(split_fp16_64{});
    else
        plan->shared_bytes = tiling.columns == 128 ? bytes_of(split_bf16_128{}) : bytes_of(split_bf16_64{});
    plan->layout[0].pitch = plan->layout[1].pitch = 4;
    if (empty(call)) return CK_OK;
    const int64_t own = split_sums_bytes(call, tiling, fp16), other = split_sums_bytes(call, in_bf16, false);
    plan->workspace_bytes = static_cast<size_t>(split_workspace_of(call, at_once).sums + (own > other ? own : other));
    return CK_OK;
}
inline int plan_split_fp16(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_split(call, plan, error, true);
}
inline int plan_split_bf16(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_split(call, plan, error, false);
}

inline int plan_split_inside(const ck_call *call, ck_plan *plan, ck_error *error) {
    const cluster_tiling tiling = split_inside_tiling_of(call);
    const int64_t blocks = product(tiling.tiles, tiling.parts * tiling.groups);
    CK_TRY(plan_grid(call, plan, error, blocks, 1, split_inside_block_of(tiling).threads, 1));
    const bool too_many_axes = axes_of<uint8_t>(call).count > STACK_AXES;
    if (inner(call) > INT32_MAX)
        return ck_fail(error, CK_BAD_VALUE, "k must be at most %lld for this variant",
                       static_cast<long long>(INT32_MAX));
    for (int view = 0; view < 3; ++view) plan->layout[view].contiguous = too_many_axes;
    plan->layout[0].pitch = plan->layout[1].pitch = 4; // rows or columns are contiguous
    plan->shared_bytes = split_inside_block_of(tiling).shared_bytes;
    return plan_groups(call, plan, error, tiling.groups);
}

inline int plan_split_small(const ck_call *call, ck_plan *plan, ck_error *error) {
    const split_small_tiling tiling = choose_split_small(call).tiling;
    CK_TRY(plan_tiles(call, plan, error, SMALL_ROWS, tiling.columns, SMALL_THREADS));
    plan->layout[0].pitch = plan->layout[1].pitch = 4; // rows or columns are contiguous
    plan->shared_bytes = with_split_small_size(tiling, [](auto size) { return decltype(size)::dynamic_bytes(); });
    return CK_OK;
}

} // namespace matmul

#endif

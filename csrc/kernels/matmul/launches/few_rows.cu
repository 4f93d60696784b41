// The launches of "few_rows". The table is in matmul.cu.
#include "../plans/few_rows.cuh"

#include "groups.cuh"

namespace matmul {

namespace {

template <typename T, int ROWS> auto few_kernel(bool along_k) {
    return along_k ? few_along<T, ROWS> : few_across<T, ROWS, few_columns(false, sizeof(T))>;
}

// A product with few columns is the transpose of one with few rows, which the kernels compute.
template <typename T>
int run_few(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    const operands<T, false> first = first_operands<T, false>(call);
    const bool transposed = first.m > first.n;
    const auto [a, b, c, m, n, k] = transposed ? first.transposed() : first;
    const int64_t column = b.column_stride, next = b.row_stride;
    const bool along_k = (next < 0 ? -next : next) < (column < 0 ? -column : column) || k == 1;
    const few_grid own = few_grid_of(m, n, along_k, sizeof(T), k, products(call), call->limits->multiprocessors);
    auto kernel = m <= 1   ? few_kernel<T, 1>(along_k)
                  : m <= 4 ? few_kernel<T, 4>(along_k)
                  : m <= 8 ? few_kernel<T, 8>(along_k)
                           : few_kernel<T, 16>(along_k);
    if constexpr (sizeof(T) == 4)
        if (own.columns == FEW_NARROW) kernel = few_across<T, 1, FEW_NARROW>;
    // The plan has workspace for the largest number of parts.
    group_sums sums = group_sums_of(call, plan, context, transposed);
    sums.groups = static_cast<int>(smaller(sums.groups, own.parts));
    CK_TRY(in_parts(first, axes_of<T>(call), plan->grid[2], [&](const operand_stack<T, false> &stack, int64_t count) {
        const dim3 grid(static_cast<unsigned>(own.blocks), static_cast<unsigned>(sums.groups),
                        static_cast<unsigned>(count));
        return ck_launch(context, error, along_k ? "few_along" : "few_across", kernel, grid,
                         dim3(static_cast<unsigned>(own.threads)), 0, transposed ? stack.transposed() : stack, sums);
    }));
    return launch_add_groups<T>(call, sums, context, error);
}

} // namespace

CK_RUN(few_rows) {
    if (empty(call)) return CK_OK;
    switch (call->types.input) {
    case CK_FLOAT16: return run_few<__half>(call, plan, context, error);
    case CK_BFLOAT16: return run_few<__nv_bfloat16>(call, plan, context, error);
    default: return run_few<float>(call, plan, context, error);
    }
}

} // namespace matmul

// The launches of "few_rows". The table is in matmul.cu.
#include "few_rows.cuh"

#include "group_launches.cuh"

namespace matmul {

namespace {

template <int ROWS> auto few_kernel(bool along_k) {
    return along_k ? few_along<ROWS> : few_across<ROWS>;
}

} // namespace

CK_RUN(few_rows) {
    if (empty(call)) return CK_OK;
    const operands<float, false> first = first_operands<float, false>(call);
    const bool columns = first.m > first.n; // few of them
    const int64_t few = columns ? first.n : first.m;
    const int64_t line = columns ? first.a.row_stride : first.b.column_stride;
    const int64_t next = columns ? first.a.column_stride : first.b.row_stride;
    const bool along_k = (next < 0 ? -next : next) < (line < 0 ? -line : line) || first.k == 1;
    const auto kernel = few <= 1   ? few_kernel<1>(along_k)
                        : few <= 2 ? few_kernel<2>(along_k)
                        : few <= 4 ? few_kernel<4>(along_k)
                        : few <= 8 ? few_kernel<8>(along_k)
                                   : few_kernel<16>(along_k);
    const int64_t lines = columns ? first.m : first.n;
    const int64_t blocks = product(divide_up(lines, few_lines(along_k)), divide_up(few, FEW_MOST));
    const int64_t all = product(blocks, products(call));
    group_sums sums = group_sums_of(call, plan, context); // the plan has workspace for the largest number of parts
    const int64_t parts = few_parts(few, along_k, first.k, all, call->limits->multiprocessors);
    sums.groups = static_cast<int>(smaller(sums.groups, parts));
    CK_TRY(in_parts(first, axes_of<float>(call), plan->grid[2],
                    [&](const operand_stack<float, false> &stack, int64_t count) {
                        const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(sums.groups),
                                        static_cast<unsigned>(count));
                        return ck_launch(context, error, along_k ? "few_along" : "few_across", kernel, grid,
                                         dim3(along_k ? FEW_THREADS : FEW_ACROSS_THREADS), 0, stack, columns, sums);
                    }));
    return launch_add_groups<float>(call, sums, context, error);
}

} // namespace matmul

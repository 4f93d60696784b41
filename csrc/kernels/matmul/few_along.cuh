// The kernel of "few_rows" for columns of B that are contiguous: a warp has four of them, and its lanes divide k.
#ifndef CK_MATMUL_FEW_ALONG_CUH
#define CK_MATMUL_FEW_ALONG_CUH

#include "few_operands.cuh"

namespace matmul {

template <typename T, int ROWS>
__global__ void __launch_bounds__(FEW_THREADS)
    few_along(const operand_stack<T, false> stack, bool columns, const group_sums sums) {
    enum { DEPTH = few_along_depth(sizeof(T)), WIDTH = few_at_once(sizeof(T)), CHUNK = 32 * WIDTH };
    let_next_grid_begin();
    const few_operands<T> op(stack.of_block(), columns, sums, ROWS, few_lines(true, sizeof(T)));
    const int t = threadIdx.x, lane = t % 32, line = (op.block * (FEW_THREADS / 32) + t / 32) * FEW_LINES;
    const T *many[FEW_LINES];
#pragma unroll
    for (int j = 0; j < FEW_LINES; ++j)
        many[j] = op.many + (line + j < op.lines ? line + j : op.lines - 1) * op.many_line;
    // A lane has neighbors of each chunk, if these can be loaded together, or else each 32nd element. The few lines, which all warps
    // read, come from the L1 cache.
    const auto can_together = [&](const T *data, int64_t line_stride, int64_t stride) {
        return stride == 1 && line_stride % WIDTH == 0 && reinterpret_cast<uintptr_t>(data + op.begin) % 16 == 0;
    };
    const bool together = can_together(op.many, op.many_line, op.many_k),
               few_together = together && can_together(op.few, op.few_line, op.few_k);
    const auto element = [&](int chunk, int i) {
        return together ? chunk * CHUNK + lane * WIDTH + i : (chunk * WIDTH + i) * 32 + lane;
    };
    float sum[ROWS][FEW_LINES] = {};
    for (int k = op.begin; k < op.end; k += DEPTH) {
        const bool all = k + DEPTH <= op.end;
        few_elements<T> x[FEW_LINES][DEPTH / CHUNK];
#pragma unroll
        for (int j = 0; j < FEW_LINES; ++j)
#pragma unroll
            for (int chunk = 0; chunk < DEPTH / CHUNK; ++chunk) {
                if (together && all) {
                    x[j][chunk].template load<true>(many[j] + k + element(chunk, 0));
                } else {
#pragma unroll
                    for (int i = 0; i < WIDTH; ++i) {
                        const int at = k + element(chunk, i);
                        const T read = __ldcs(many[j] + (at < op.end ? at : op.end - 1) * op.many_k);
                        x[j][chunk].set(i, at < op.end ? read : number_cast<T>(0.0f));
                    }
                }
            }
#pragma unroll
        for (int chunk = 0; chunk < DEPTH / CHUNK; ++chunk)
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const T *const few = op.few + (row < op.rows ? row : op.rows - 1) * op.few_line;
                few_elements<T> a;
                if (few_together && all) {
                    a.template load<false>(few + k + element(chunk, 0));
                } else {
#pragma unroll
                    for (int i = 0; i < WIDTH; ++i) {
                        const int at = k + element(chunk, i);
                        const T read = __ldg(few + (at < op.end ? at : op.end - 1) * op.few_k);
                        a.set(i, at < op.end ? read : number_cast<T>(0.0f));
                    }
                }
#pragma unroll
                for (int i = 0; i < WIDTH; ++i)
#pragma unroll
                    for (int j = 0; j < FEW_LINES; ++j) sum[row][j] += a[i] * x[j][chunk][i];
            }
    }
#pragma unroll
    for (int row = 0; row < ROWS; ++row)
#pragma unroll
        for (int j = 0; j < FEW_LINES; ++j) {
            float total = sum[row][j]; // of all lanes
#pragma unroll
            for (int lanes = 16; lanes > 0; lanes /= 2) total += __shfl_xor_sync(0xffffffffu, total, lanes);
            if (lane == (row * FEW_LINES + j) % 32) op.store(row, line + j, total);
        }
}

} // namespace matmul

#endif

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
    __shared__ float few[ROWS][DEPTH];
    const few_operands<T> op(stack.of_block(), columns, sums, ROWS, few_lines(true, sizeof(T)));
    const int t = threadIdx.x, lane = t % 32, line = (op.block * (FEW_THREADS / 32) + t / 32) * FEW_LINES;
    const T *many[FEW_LINES];
#pragma unroll
    for (int j = 0; j < FEW_LINES; ++j)
        many[j] = op.many + (line + j < op.lines ? line + j : op.lines - 1) * op.many_line;
    // A lane has neighbors, of each chunk of 32 times as many, or else each 32nd element. `few` has them in such an
    // order that a lane's are 32 apart.
    const bool together =
        op.many_k == 1 && op.many_line % WIDTH == 0 && reinterpret_cast<uintptr_t>(op.many + op.begin) % 16 == 0;
    const auto place = [&](int i) { return together ? i % 32 * WIDTH + i / 32 % WIDTH + i / CHUNK * CHUNK : i; };
    float sum[ROWS][FEW_LINES] = {};
    for (int k = op.begin; k < op.end; k += DEPTH) {
        few_elements<T> x[FEW_LINES][DEPTH / CHUNK];
        const bool all = k + DEPTH <= op.end;
#pragma unroll
        for (int j = 0; j < FEW_LINES; ++j) {
#pragma unroll
            for (int i = 0; i < DEPTH / CHUNK; ++i) {
                if (together && all) {
                    x[j][i].load(many[j] + k + i * CHUNK + lane * WIDTH);
                } else {
#pragma unroll
                    for (int own = 0; own < WIDTH; ++own) {
                        const int at = k + place((i * WIDTH + own) * 32 + lane);
                        const T read = __ldcs(many[j] + (at < op.end ? at : op.end - 1) * op.many_k);
                        x[j][i].set(own, at < op.end ? read : number_cast<T>(0.0f));
                    }
                }
            }
        }
        __syncthreads(); // the elements of the last step have been read
        for (int i = t; i < ROWS * DEPTH; i += FEW_THREADS) {
            const int row = i / DEPTH, at = k + place(i % DEPTH);
            few[row][i % DEPTH] =
                row < op.rows && at < op.end ? number_cast<float>(op.few[row * op.few_line + at * op.few_k]) : 0;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH / 32; ++i)
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const float a = few[row][i * 32 + lane];
#pragma unroll
                for (int j = 0; j < FEW_LINES; ++j) sum[row][j] += a * x[j][i / WIDTH][i % WIDTH];
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

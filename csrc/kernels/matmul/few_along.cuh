// The kernel of "few_rows" for columns of B that are contiguous: a warp has four of them, and its lanes divide k.
#ifndef CK_MATMUL_FEW_ALONG_CUH
#define CK_MATMUL_FEW_ALONG_CUH

#include "few_operands.cuh"

namespace matmul {

template <int ROWS>
__global__ void __launch_bounds__(FEW_THREADS)
    few_along(const operand_stack<float, false> stack, bool columns, const group_sums sums) {
    enum { DEPTH = FEW_ALONG_DEPTH, CHUNK = 32 * 4, CHUNKS = DEPTH / CHUNK };
    let_next_grid_begin();
    __shared__ float few[ROWS][DEPTH];
    const few_operands op(stack.of_block(), columns, sums, ROWS, FEW_THREADS / 32 * FEW_LINES);
    const int t = threadIdx.x, lane = t % 32, line = (op.block * (FEW_THREADS / 32) + t / 32) * FEW_LINES;
    const float *many[FEW_LINES];
#pragma unroll
    for (int j = 0; j < FEW_LINES; ++j)
        many[j] = op.many + (line + j < op.lines ? line + j : op.lines - 1) * op.many_line;
    // A lane has four neighbors of each chunk of 128, or else each 32nd element. `few` has them in such an order that a lane's are
    // 32 apart.
    const bool fours =
        op.many_k == 1 && op.many_line % 4 == 0 && reinterpret_cast<uintptr_t>(op.many + op.begin) % 16 == 0;
    const auto place = [&](int i) { return fours ? i % 32 * 4 + i / 32 % 4 + i / CHUNK * CHUNK : i; };
    float sum[ROWS][FEW_LINES] = {};
    for (int k = op.begin; k < op.end; k += DEPTH) {
        float x[FEW_LINES][DEPTH / 32];
        const bool all = k + DEPTH <= op.end;
#pragma unroll
        for (int j = 0; j < FEW_LINES; ++j) {
            if (fours && all) {
#pragma unroll
                for (int i = 0; i < CHUNKS; ++i) {
                    const float4 four = __ldcs(reinterpret_cast<const float4 *>(many[j] + k + i * CHUNK + lane * 4));
                    x[j][i * 4] = four.x, x[j][i * 4 + 1] = four.y, x[j][i * 4 + 2] = four.z,
                             x[j][i * 4 + 3] = four.w;
                }
            } else {
#pragma unroll
                for (int i = 0; i < DEPTH / 32; ++i) {
                    const int at = k + place(i * 32 + lane);
                    const float read = __ldcs(many[j] + (at < op.end ? at : op.end - 1) * op.many_k);
                    x[j][i] = at < op.end ? read : 0;
                }
            }
        }
        __syncthreads(); // the elements of the last step have been read
        for (int i = t; i < ROWS * DEPTH; i += FEW_THREADS) {
            const int row = i / DEPTH, at = k + place(i % DEPTH);
            few[row][i % DEPTH] = row < op.rows && at < op.end ? op.few[row * op.few_line + at * op.few_k] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH / 32; ++i)
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const float a = few[row][i * 32 + lane];
#pragma unroll
                for (int j = 0; j < FEW_LINES; ++j) sum[row][j] += a * x[j][i];
            }
    }
#pragma unroll
    for (int row = 0; row < ROWS; ++row)
#pragma unroll
        for (int j = 0; j < FEW_LINES; ++j) {
            float total = sum[row][j]; // of all lanes
#pragma unroll
            for (int lanes = 16; lanes > 0; lanes /= 2) total += __shfl_xor_sync(0xffffffffu, total, lanes);
            if (lane == (row * FEW_LINES + j) % 32 && row < op.rows && line + j < op.lines)
                op.c[row * op.c_few + (line + j) * op.c_many] = total;
        }
}

} // namespace matmul

#endif

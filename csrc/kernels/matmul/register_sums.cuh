// The sums that a thread keeps in registers: ROWS x COLUMNS elements of C, in groups of four neighbors.
#ifndef CK_MATMUL_REGISTER_SUMS_CUH
#define CK_MATMUL_REGISTER_SUMS_CUH

#include "operands.cuh"

namespace matmul {

__device__ __forceinline__ float component(const float4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// One step along k. Every second row goes backwards: consecutive multiply-adds then share an operand, which the chip can take
// from its reuse cache instead of the register file.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void add_products(float (&sum)[ROWS][COLUMNS], const float4 (&a)[ROWS / 4],
                                             const float4 (&b)[COLUMNS / 4]) {
#pragma unroll
    for (int row = 0; row < ROWS; ++row)
#pragma unroll
        for (int i = 0; i < COLUMNS; ++i) {
            const int column = row % 2 ? COLUMNS - 1 - i : i;
            sum[row][column] += component(a[row / 4], row % 4) * component(b[column / 4], column % 4);
        }
}

// Writes the sums to C. Groups of four rows are row_step apart, and groups of four columns column_step. Where the rows of C allow
// it, four columns are one store: single floats, 16 bytes apart, would write every sector of memory four times.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void store_tile(const output_matrix<float, false> &c, int64_t first_row, int row_step,
                                           int64_t first_column, int column_step, int64_t m, int64_t n,
                                           const float (&sum)[ROWS][COLUMNS]) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int64_t row = first_row + r / 4 * row_step + r % 4;
        if (row >= m) continue;
#pragma unroll
        for (int group = 0; group < COLUMNS / 4; ++group) {
            const int64_t column = first_column + group * column_step;
            float *const to = c.data + row * c.row_stride + column * c.column_stride;
            const float(&four)[COLUMNS] = sum[r];
            if (column + 3 < n && c.column_stride == 1 && reinterpret_cast<uintptr_t>(to) % 16 == 0) {
                *reinterpret_cast<float4 *>(to) =
                    make_float4(four[group * 4], four[group * 4 + 1], four[group * 4 + 2], four[group * 4 + 3]);
                continue;
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (column + i < n) to[i * c.column_stride] = four[group * 4 + i];
        }
    }
}

} // namespace matmul

#endif

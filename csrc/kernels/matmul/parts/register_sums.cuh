// The sums that a thread keeps in registers: ROWS x COLUMNS elements of C, in groups of four neighbors.
#ifndef CK_MATMUL_REGISTER_SUMS_CUH
#define CK_MATMUL_REGISTER_SUMS_CUH

#include "operands.cuh"

namespace matmul {

__device__ __forceinline__ float component(const float4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// One step along k. Every second row goes backwards: consecutive multiply-adds then share an operand, which the chip
// can take from its reuse cache instead of the register file.
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

// Writes the sums to C. Groups of four rows are row_step apart, and groups of four columns column_step. FOURS: where
// the rows of C allow it, four columns are one store. (Single floats, 16 bytes apart, would write every sector of
// memory four times.)
template <bool FOURS, int ROWS, int COLUMNS>
__device__ __forceinline__ void store_tile(const output_matrix<float, false> &c, int64_t first_row, int row_step,
                                           int64_t first_column, int column_step, int64_t m, int64_t n,
                                           const float (&sum)[ROWS][COLUMNS]) {
    const bool fours =
        FOURS && c.column_stride == 1 &&
        (reinterpret_cast<uintptr_t>(c.data) | static_cast<uint64_t>((c.row_stride | first_column) * 4)) % 16 == 0;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int64_t row = first_row + r / 4 * row_step + r % 4;
        if (row >= m) continue;
        float *const to = c.data + row * c.row_stride;
#pragma unroll
        for (int i = 0; i < COLUMNS; i += 4) {
            const int64_t column = first_column + i / 4 * column_step;
            if (fours && column + 3 < n) {
                *reinterpret_cast<float4 *>(to + column) =
                    make_float4(sum[r][i], sum[r][i + 1], sum[r][i + 2], sum[r][i + 3]);
            } else {
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    if (column + j < n) to[(column + j) * c.column_stride] = sum[r][i + j];
            }
        }
    }
}

} // namespace matmul

#endif

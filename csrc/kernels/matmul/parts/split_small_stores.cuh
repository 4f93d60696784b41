// How "split_small" stores its tiles.
#ifndef CK_MATMUL_SPLIT_SMALL_STORES_CUH
#define CK_MATMUL_SPLIT_SMALL_STORES_CUH

#include "block_tile.cuh"
#include "split_small_steps.cuh"

namespace matmul {

// The tile in float64, one element after another, for a tile that cannot be split.
template <typename size>
__device__ __forceinline__ void store_plain_sums(const operands<float, false> &op, const tile_origin &first) {
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < SMALL_ROWS * size::COLUMNS; i += SMALL_THREADS) {
        const int64_t row = first.row + i / size::COLUMNS, column = first.column + i % size::COLUMNS;
        if (row >= op.m || column >= op.n) continue;
        const auto a_row = op.a.row(row), b_column = op.b.column(column);
        double total = 0;
#pragma unroll 1
        for (int64_t k = 0; k < op.k; ++k)
            total += static_cast<double>(a_row[k]) * static_cast<double>(b_column[k]); // the product is exact
        op.c.store(row, column, static_cast<float>(total));
    }
}

// Stores the rows of a tile that are inside C from shared memory, VECTOR neighbors by each thread at once.
template <typename size, int VECTOR>
__device__ __forceinline__ void store_small_rows(const output_matrix<float, false> &c, const tile_origin &first,
                                                 int rows, int columns, const float *shared) {
    using vector = std::conditional_t<VECTOR == 4, float4, float>;
    enum { ACROSS = (size::COLUMNS == 64 ? 64 : 128) / VECTOR, DOWN = SMALL_THREADS / ACROSS }; // threads
    const int column = static_cast<int>(threadIdx.x % ACROSS) * VECTOR;
    int row = static_cast<int>(threadIdx.x / ACROSS);
    float *to = c.data + (first.row + row) * c.row_stride + (first.column + column) * c.column_stride;
    if (column < columns)
#pragma unroll 4
        for (; row < rows; row += DOWN, to += DOWN * c.row_stride)
            *reinterpret_cast<vector *>(to) = *reinterpret_cast<const vector *>(shared + row * size::PITCH + column);
}

// Stores a tile, `rows` x `columns` of which are inside C: if it is WHOLE, from registers, one row after the other
// (alternating between rows takes half as long again), and otherwise through shared memory, so that the threads of a
// warp store neighbors.
template <typename size, bool WHOLE>
__device__ __forceinline__ void store_small(const operands<float, false> &op, const tile_origin &first, int rows,
                                            int columns, const float (&total)[size::SUMS], float *shared) {
    if (!WHOLE) __syncthreads(); // all products are done
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = static_cast<int>(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) + half * 8;
        const int column = static_cast<int>(threadIdx.x % 4 * 2);
        float *const to = WHOLE ? op.c.data + (first.row + row) * op.c.row_stride + first.column + column
                                : shared + row * size::PITCH + column;
#pragma unroll
        for (int i = 0; i < size::SUMS / 4; ++i)
            *reinterpret_cast<float2 *>(to + i * 8) =
                make_float2(total[i * 4 + half * 2], total[i * 4 + half * 2 + 1]);
    }
    if (WHOLE) return;
    __syncthreads();
    if (op.c.column_stride == 1 && op.c.row_stride % 4 == 0 && columns % 4 == 0 &&
        reinterpret_cast<uintptr_t>(op.c.data) % 16 == 0)
        store_small_rows<size, 4>(op.c, first, rows, columns, shared);
    else
        store_small_rows<size, 1>(op.c, first, rows, columns, shared);
}

} // namespace matmul

#endif

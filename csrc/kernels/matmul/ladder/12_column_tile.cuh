// matmul "column_tile": comes after "tiled_plain".
//
// Change  Each thread computes ROWS = 8 elements of a column of C and keeps their sums in registers.
// Why     "tiled_plain" loads two words from shared memory per multiply-add, and a multiprocessor loads a quarter as
//         many words as it can multiply. Here one word of B serves eight multiply-adds.
// Claim   words loaded from shared memory per multiply-add: 1 + 1/ROWS (before: 2); words read from global memory:
//         m*n*k/SIDE * 2 with SIDE = 64 (before: with TILE = 16)
// Gain    on an H200, m = n = k = 4096: 15.9 TFLOP/s (before: 8.2); docs/speed.md
// Price   registers: ROWS sums per thread, so the multiprocessor holds fewer threads
// Edges   Tile elements outside the matrix are zero. All threads reach both barriers.
// Map     block: the tile of block_tile.cuh; thread t: column t % SIDE, rows t / SIDE * ROWS + 0 ... 7
// Limit   still more than one load per multiply-add
#ifndef CK_MATMUL_COLUMN_TILE_CUH
#define CK_MATMUL_COLUMN_TILE_CUH

#include "../parts/block_tile.cuh"
#include "../parts/operands.cuh"

namespace matmul {

// A tile of C is SIDE x SIDE; DEPTH columns of A and rows of B are in shared memory at a time.
struct column_tile_size {
    enum { SIDE = 64, DEPTH = 8, ROWS = 8, THREADS = SIDE * SIDE / ROWS };
};

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(column_tile_size::THREADS) column_tile(const operand_stack<T, PLAIN> stack) {
    constexpr int SIDE = column_tile_size::SIDE, DEPTH = column_tile_size::DEPTH, ROWS = column_tile_size::ROWS;
    static_assert(SIDE * DEPTH == column_tile_size::THREADS, "each thread loads one element of each tile");
    __shared__ number<T> a_tile[SIDE][DEPTH];
    __shared__ number<T> b_tile[DEPTH][SIDE];
    const auto [a, b, c, m, n, k] = stack.of_block();
    const auto [first_row, first_column] = tile_of_block<SIDE, SIDE>(m, n);
    const int t = threadIdx.x, tx = t % SIDE, ty = t / SIDE * ROWS;

    const int a_x = t % DEPTH, a_y = t / DEPTH, b_y = t / SIDE; // the elements that this thread loads
    const auto a_row = a.row(first_row + a_y);
    const auto b_column = b.column(first_column + tx);
    const bool a_inside = first_row + a_y < m, b_inside = first_column + tx < n;

    number<T> sum[ROWS] = {};
    for (int64_t start = 0; start < k; start += DEPTH) {
        a_tile[a_y][a_x] = a_inside && start + a_x < k ? a_row[start + a_x] : number<T>(0);
        b_tile[b_y][tx] = b_inside && start + b_y < k ? b_column[start + b_y] : number<T>(0);
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i) {
            const number<T> b_value = b_tile[i][tx];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) sum[r] += a_tile[ty + r][i] * b_value;
        }
        __syncthreads();
    }
    const int64_t row = first_row + ty, column = first_column + tx;
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        if (row + r < m && column < n) c.store(row + r, column, sum[r]);
}

} // namespace matmul

#endif

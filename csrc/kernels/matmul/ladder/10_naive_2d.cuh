// matmul "naive_2d": the first kernel of a second ladder, with plain sums.
//
// Change  Blocks of 16 x 16 threads: the position of a thread in the grid is the position of its element in C.
// Why     Row and column need no division, and a block covers a square: its threads share 16 rows of A and 16 columns
//         of B, which a cache can keep for them.
// Claim   words that threads read from global memory: 2*m*n*k; distinct words that a block needs: 32*k (a block of
//         "naive" in one row of C: 257*k)
// Price   A warp covers two rows of 16 columns: its load of A requests two words in two lines (in "naive": one word),
//         and its load of B fetches 16 words for 32 lanes (in "naive": 32). An H200 takes 1.6 times as long.
// Edges   Threads outside C do nothing. The number of blocks is rounded up, so the edge is covered.
// Map     row = blockIdx.y*16 + threadIdx.y, column = blockIdx.x*16 + threadIdx.x; past 65535 blocks in y as in
//         "tiled"
// Limit   Reuse is left to the cache: see "tiled_plain".
#ifndef CK_MATMUL_NAIVE_2D_CUH
#define CK_MATMUL_NAIVE_2D_CUH

#include "../parts/operands.cuh"

namespace matmul {

enum { SQUARE = 16 };

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(SQUARE *SQUARE) naive_2d(const operand_stack<T, PLAIN> stack) {
    const auto [a, b, c, m, n, k] = stack.of_block();
    const int64_t row = static_cast<int64_t>(blockIdx.y) * SQUARE + threadIdx.y;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * SQUARE + threadIdx.x;
    if (row >= m || column >= n) return;
    const auto a_row = a.row(row);
    const auto b_column = b.column(column);
    number<T> sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a_row[i] * b_column[i];
    c.store(row, column, sum);
}

} // namespace matmul

#endif

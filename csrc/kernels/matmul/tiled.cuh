// matmul "tiled": comes after "pitched".
//
// Change  A block owns a TILE x TILE square of C and walks along k; at each step its threads carry one tile of A and
//         one of B into shared memory, a word each, and then use both.
// Why     A word fetched once serves TILE threads.
// Claim   words that threads read from global memory: 2*m*n*k/TILE (before: m*n*k + m*k)
// Price   2*TILE*TILE words of shared memory, two barriers a tile
// Edges   outside the matrix a tile holds zeros, which add nothing; all threads reach both barriers
// Map     row = blockIdx.y*TILE + threadIdx.y, column = blockIdx.x*TILE + threadIdx.x. A grid has at most 65535
//         blocks in y: what C has below them is another launch's
// Limit   an edge test a word ("tiled_padded"); two loads from shared memory for each multiply-add
#ifndef CK_MATMUL_TILED_CUH
#define CK_MATMUL_TILED_CUH

#include "../kahan.cuh"
#include "operands.cuh"

namespace matmul {

template <typename T, bool PLAIN, int TILE>
__global__ void __launch_bounds__(TILE *TILE) tiled(const operand_stack<T, PLAIN> stack) {
    __shared__ number<T> a_tile[TILE][TILE];
    __shared__ number<T> b_tile[TILE][TILE];
    const auto [a, b, c, m, n, k] = stack.of_block();
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + ty;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + tx;
    const auto a_row = a.row(row);
    const auto b_column = b.column(column);
    kahan_sum<number<T>> total;
    for (int64_t start = 0; start < k; start += TILE) {
        a_tile[ty][tx] = row < m && start + tx < k ? a_row[start + tx] : number<T>(0);
        b_tile[ty][tx] = start + ty < k && column < n ? b_column[start + ty] : number<T>(0);
        __syncthreads(); // both tiles are whole
        for (int i = 0; i < TILE; ++i) total.add_product(a_tile[ty][i], b_tile[i][tx]);
        __syncthreads(); // nobody reads them any more: the next pair may overwrite them
    }
    if (row < m && column < n) c.store(row, column, compensated_result(total, a_row, b_column, k));
}

} // namespace matmul

#endif

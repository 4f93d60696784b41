// matmul "tiled": comes after "pitched".
//
// Change  Each block computes a TILE x TILE square of C. At each step along k, its threads first load one tile of A
//         and one tile of B into shared memory, one word each, and then use both tiles.
// Why     Each word fetched serves TILE threads.
// Claim   words that threads read from global memory: 2*m*n*k/TILE (before: m*n*k + m*k)
// Price   2*TILE*TILE words of shared memory, two barriers per tile
// Edges   Tile elements outside the matrix are zero and add nothing. All threads reach both barriers.
// Map     row = blockIdx.y*TILE + threadIdx.y, column = blockIdx.x*TILE + threadIdx.x. A grid has at most 65535
//         blocks in y; further rows of C are computed by another launch.
// Limit   one edge check per word (see "tiled_padded"); two loads from shared memory per multiply-add
#ifndef CK_MATMUL_TILED_CUH
#define CK_MATMUL_TILED_CUH

#include "../../compensated.cuh"
#include "../parts/operands.cuh"

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
        __syncthreads(); // both tiles are complete
        for (int i = 0; i < TILE; ++i) total.add_product(a_tile[ty][i], b_tile[i][tx]);
        __syncthreads(); // no thread reads them any more: the next pair may overwrite them
    }
    if (row < m && column < n) c.store(row, column, compensated_result(total, a_row, b_column, k));
}

} // namespace matmul

#endif

// matmul "tiled_plain": comes after "naive_2d".
//
// Change  Tiles of A and B in shared memory, as in "tiled", with a plain sum.
// Why     Each word fetched serves TILE threads.
// Claim   words that threads read from global memory: 2*m*n*k/TILE (before: 2*m*n*k)
// Price   2*TILE*TILE words of shared memory, two barriers per tile
// Edges   Tile elements outside the matrix are zero. All threads reach both barriers.
// Map     as in "tiled"
// Note    The second barrier keeps a tile from being overwritten while other threads still read it.
// Limit   two loads from shared memory per multiply-add; the error grows with k (in "tiled" it does not)
#ifndef CK_MATMUL_TILED_PLAIN_CUH
#define CK_MATMUL_TILED_PLAIN_CUH

#include "../parts/operands.cuh"

namespace matmul {

template <typename T, bool PLAIN, int TILE>
__global__ void __launch_bounds__(TILE *TILE) tiled_plain(const operand_stack<T, PLAIN> stack) {
    __shared__ number<T> a_tile[TILE][TILE];
    __shared__ number<T> b_tile[TILE][TILE];
    const auto [a, b, c, m, n, k] = stack.of_block();
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + ty;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + tx;
    const auto a_row = a.row(row);
    const auto b_column = b.column(column);
    number<T> sum = 0;
    for (int64_t start = 0; start < k; start += TILE) {
        a_tile[ty][tx] = row < m && start + tx < k ? a_row[start + tx] : number<T>(0);
        b_tile[ty][tx] = start + ty < k && column < n ? b_column[start + ty] : number<T>(0);
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c.store(row, column, sum);
}

} // namespace matmul

#endif

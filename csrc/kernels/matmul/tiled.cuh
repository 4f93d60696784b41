// matmul "tiled": comes after "pitched".
//
// Change  A block owns a TILE x TILE square of C and walks along k; at each step its threads carry one tile of A and
//         one of B into shared memory, a word each, and then use both.
// Why     A word fetched once serves TILE threads.
// Claim   words that threads read from global memory: 2*m*n*k/TILE (before: m*n*k + m*k)
// Price   2*TILE*TILE words of shared memory, two barriers a tile
// Edges   outside the matrix a tile holds zeros, which add nothing; all threads reach both barriers
// Map     row = blockIdx.y*TILE + threadIdx.y, column = blockIdx.x*TILE + threadIdx.x. A grid has at most 65535
//         blocks in y: where C has more rows of tiles, a block goes on with the tile gridDim.y further down
// Limit   an edge test a word ("tiled_padded"); two loads from shared memory for each multiply-add
#ifndef CK_MATMUL_TILED_CUH
#define CK_MATMUL_TILED_CUH

#include "../kahan.cuh"

namespace matmul {

template <typename T, int TILE>
__global__ void __launch_bounds__(TILE *TILE)
    tiled(const T *__restrict__ a, int64_t lda, const T *__restrict__ b, int64_t ldb, T *__restrict__ c, int64_t ldc,
          int64_t m, int64_t n, int64_t k) {
    __shared__ T a_tile[TILE][TILE];
    __shared__ T b_tile[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + tx;
    for (int64_t top = static_cast<int64_t>(blockIdx.y) * TILE; top < m;
         top += static_cast<int64_t>(gridDim.y) * TILE) {
        const int64_t row = top + ty;
        kahan_sum<T> total;
        for (int64_t start = 0; start < k; start += TILE) {
            a_tile[ty][tx] = row < m && start + tx < k ? a[row * lda + start + tx] : T(0);
            b_tile[ty][tx] = start + ty < k && column < n ? b[(start + ty) * ldb + column] : T(0);
            __syncthreads(); // both tiles are whole
            for (int i = 0; i < TILE; ++i) total.add_product(a_tile[ty][i], b_tile[i][tx]);
            __syncthreads(); // nobody reads them any more: the next pair may overwrite them
        }
        if (row < m && column < n)
            c[row * ldc + column] = compensated_result(total, a + row * lda, b + column, ldb, k);
    }
}

} // namespace matmul

#endif

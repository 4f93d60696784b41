// matmul "tiled_padded": comes after "tiled".
//
// Change  In device memory m, n and k are rounded up to whole tiles; the added elements of A and B are zero. The
//         kernel has no edge tests.
// Why     A test a word costs instructions, and "tiled" waits for instructions, no longer for memory.
// Claim   comparisons against m, n, k in the inner loops: 0 (before: 4 a thread and tile)
// Price   memory for the padding, zeroed by the copy
// Edges   none in the kernel: zeros times zeros add nothing, and what falls outside C lands in C's padding
// Map     as "tiled"; rows, depth: m and k rounded up
// Limit   two loads from shared memory for each multiply-add
#ifndef CK_MATMUL_TILED_PADDED_CUH
#define CK_MATMUL_TILED_PADDED_CUH

#include "../kahan.cuh"

namespace matmul {

template <typename T, int TILE>
__global__ void __launch_bounds__(TILE *TILE)
    tiled_padded(const T *__restrict__ a, int64_t lda, const T *__restrict__ b, int64_t ldb, T *__restrict__ c,
                 int64_t ldc, int64_t rows, int64_t depth) {
    __shared__ T a_tile[TILE][TILE];
    __shared__ T b_tile[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + tx;
    for (int64_t top = static_cast<int64_t>(blockIdx.y) * TILE; top < rows;
         top += static_cast<int64_t>(gridDim.y) * TILE) {
        const int64_t row = top + ty;
        kahan_sum<T> total;
        for (int64_t start = 0; start < depth; start += TILE) {
            a_tile[ty][tx] = a[row * lda + start + tx];
            b_tile[ty][tx] = b[(start + ty) * ldb + column];
            __syncthreads();
            for (int i = 0; i < TILE; ++i) total.add_product(a_tile[ty][i], b_tile[i][tx]);
            __syncthreads();
        }
        c[row * ldc + column] = compensated_result(total, a + row * lda, b + column, ldb, depth);
    }
}

} // namespace matmul

#endif

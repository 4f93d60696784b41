// matmul "tiled_padded": comes after "tiled".
//
// Change  In device memory, m, n and k are rounded up to whole tiles, and the added elements of A and B are zero. The
//         kernel has no edge checks.
// Why     A check per word costs instructions, and "tiled" is limited by instructions, no longer by memory.
// Claim   comparisons with m, n, k in the inner loops: 0 (before: 4 per thread and tile)
// Price   memory for the padding, which the copy sets to zero
// Edges   none in the kernel: products of zeros add nothing, and results outside C go to the padding of C
// Map     as in "tiled", with k rounded up; the grid covers m and n rounded up
// Limit   two loads from shared memory per multiply-add
#ifndef CK_MATMUL_TILED_PADDED_CUH
#define CK_MATMUL_TILED_PADDED_CUH

#include "../../compensated.cuh"
#include "../parts/operands.cuh"

namespace matmul {

template <typename T, bool PLAIN, int TILE>
__global__ void __launch_bounds__(TILE *TILE) tiled_padded(const operand_stack<T, PLAIN> stack) {
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
        a_tile[ty][tx] = a_row[start + tx];
        b_tile[ty][tx] = b_column[start + ty];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) total.add_product(a_tile[ty][i], b_tile[i][tx]);
        __syncthreads();
    }
    c.store(row, column, compensated_result(total, a_row, b_column, k));
}

} // namespace matmul

#endif

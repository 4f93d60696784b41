// matmul "tiled_padded": comes after "tiled".
//
// Change  In device memory m, n and k are rounded up to whole tiles; the added elements of A and B are zero. The
//         kernel has no edge tests.
// Why     A test a word costs instructions, and "tiled" waits for instructions, no longer for memory.
// Claim   comparisons against m, n, k in the inner loops: 0 (before: 4 a thread and tile)
// Price   memory for the padding, zeroed by the copy
// Edges   none in the kernel: zeros times zeros add nothing, and what falls outside C lands in C's padding
// Map     as "tiled"; k is the rounded one, and the grid covers m and n rounded up
// Limit   two loads from shared memory for each multiply-add
#ifndef CK_MATMUL_TILED_PADDED_CUH
#define CK_MATMUL_TILED_PADDED_CUH

#include "../kahan.cuh"
#include "operands.cuh"

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

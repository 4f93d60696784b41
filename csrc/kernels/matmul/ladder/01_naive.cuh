// matmul "naive": the first kernel of a ladder.
//
// Change  One thread per element of C, numbered row by row. Each thread walks along a row of A and down a column of
//         B.
// Why     This is the triple loop of a CPU program, with its two outer loops distributed over threads.
// Claim   words that threads read from global memory: 2*m*n*k
// Edges   Threads past the last element do nothing. k = 0 gives zeros.
// Map     idx = blockIdx.x*256 + threadIdx.x, row = idx / n, column = idx % n: the lanes of a warp read neighboring
//         columns of B, and the same word of A
// Limit   Each addition rounds, and the errors of k additions accumulate: see "kahan". Every word of A is read n
//         times and every word of B m times: see "shared_row" and "tiled".
#ifndef CK_MATMUL_NAIVE_CUH
#define CK_MATMUL_NAIVE_CUH

#include "../parts/operands.cuh"

namespace matmul {

enum { FLAT_THREADS = 256 };

// Every kernel here takes matrices of any layout, and stacks of them: operands.cuh, which also explains PLAIN.
// number<T> is the type in which elements are computed: element.cuh.
template <typename T, bool PLAIN>
__global__ void __launch_bounds__(FLAT_THREADS) naive(const operand_stack<T, PLAIN> stack) {
    const auto [a, b, c, m, n, k] = stack.of_block();
    const int64_t idx = static_cast<int64_t>(blockIdx.x) * FLAT_THREADS + threadIdx.x;
    const int64_t row = idx / n, column = idx % n;
    if (row >= m) return;
    const auto a_row = a.row(row);
    const auto b_column = b.column(column);
    number<T> sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a_row[i] * b_column[i];
    c.store(row, column, sum);
}

} // namespace matmul

#endif

// matmul "kahan": comes after "naive".
//
// Change  The sum is compensated: a second register keeps what each addition rounds away (../../compensated.cuh).
// Why     In float32, a sum of 1000 products loses digits. A compensated sum keeps nearly all of them.
// Claim   error of an element: about two roundings for any k (before: it grows with k); words read: the same
// Price   four operations per product instead of one: 6% more time on an H200 at n = 4096 (docs/ladders.md). A kernel
//         that only waited for memory would hide them entirely.
// Edges   as in "naive"; an infinity in A or B gives the same result as in a plain sum
// Map     as in "naive"
// Limit   memory traffic, as before: see "shared_row"
#ifndef CK_MATMUL_KAHAN_CUH
#define CK_MATMUL_KAHAN_CUH

#include "../../compensated.cuh"
#include "01_naive.cuh"

namespace matmul {

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(FLAT_THREADS) kahan(const operand_stack<T, PLAIN> stack) {
    const auto [a, b, c, m, n, k] = stack.of_block();
    const int64_t idx = static_cast<int64_t>(blockIdx.x) * FLAT_THREADS + threadIdx.x;
    const int64_t row = idx / n, column = idx % n;
    if (row >= m) return;
    const auto a_row = a.row(row);
    const auto b_column = b.column(column);
    kahan_sum<number<T>> total;
    for (int64_t i = 0; i < k; ++i) total.add_product(a_row[i], b_column[i]);
    c.store(row, column, compensated_result(total, a_row, b_column, k));
}

} // namespace matmul

#endif

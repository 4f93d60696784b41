// The sums of a thread of "split_inside" in float64, for a tile that cannot be split.
#ifndef CK_MATMUL_PLAIN_SUMS_CUH
#define CK_MATMUL_PLAIN_SUMS_CUH

#include "operands.cuh"

namespace matmul {

// One element after another. The thread has two neighboring rows, and of every eight columns two. Rows and columns
// outside the matrices are the last ones again: their sums are not stored.
template <int COUNT>
__device__ __noinline__ void multiply_plainly(float (&total)[COUNT], const operands<float, false> &op, int64_t row,
                                              int64_t column) {
    const auto at_most = [](int64_t i, int64_t count) { return i < count ? i : count - 1; };
    const auto above = op.a.row(at_most(row, op.m)), below = op.a.row(at_most(row + 1, op.m));
    enum { SOME = 16 }; // sums at once
    static_assert(COUNT % SOME == 0, "all sums");
#pragma unroll 1
    for (int first = 0; first < COUNT; first += SOME) {
        double sum[SOME] = {};
#pragma unroll 1
        for (int64_t k = 0; k < op.k; ++k) {
            const double a[2] = {above[k], below[k]};
#pragma unroll
            for (int i = 0; i < SOME; ++i) { // (the products are exact)
                const auto b = op.b.column(at_most(column + (first + i) / 4 * 8 + i % 2, op.n));
                sum[i] += a[i / 2 % 2] * static_cast<double>(b[k]);
            }
        }
#pragma unroll
        for (int i = 0; i < SOME; ++i) total[first + i] = static_cast<float>(sum[i]);
    }
}

} // namespace matmul

#endif

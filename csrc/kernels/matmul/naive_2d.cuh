// matmul "naive_2d": a ladder begins here, the slides' own.
//
// Change  Blocks of 16 x 16 threads: a thread's place in the grid is its element's place in C. No compensation.
// Why     Row and column need no division, and a block covers a square: its threads share 16 rows of A and 16 columns
//         of B, which a cache can keep for them.
// Claim   words that threads read from global memory: 2*m*n*k; distinct words a block needs: 32*k (a block of "naive"
//         in one row of C: 257*k)
// Price   a warp is two rows of 16 columns: its load of A asks for two words in two lines (before: one word), its load
//         of B brings 16 words for 32 lanes (before: 32). Caches save the traffic behind the loads in both forms, and
//         the loads themselves remain: the likely reason for 542 us on an H200 where "naive" takes 359 (n = 1000)
// Edges   threads outside C do nothing; the slides' grid of width / 16 drops the edge, this one is rounded up
// Map     row = blockIdx.y*16 + threadIdx.y, column = blockIdx.x*16 + threadIdx.x; past 65535 blocks in y as "tiled"
// Limit   the reuse is left to the cache: "tiled_plain"
#ifndef CK_MATMUL_NAIVE_2D_CUH
#define CK_MATMUL_NAIVE_2D_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace matmul {

enum { SQUARE = 16 };

template <typename T>
__global__ void __launch_bounds__(SQUARE *SQUARE)
    naive_2d(const T *__restrict__ a, int64_t lda, const T *__restrict__ b, int64_t ldb, T *__restrict__ c,
             int64_t ldc, int64_t m, int64_t n, int64_t k) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * SQUARE + threadIdx.x;
    if (column >= n) return;
    for (int64_t row = static_cast<int64_t>(blockIdx.y) * SQUARE + threadIdx.y; row < m;
         row += static_cast<int64_t>(gridDim.y) * SQUARE) {
        T sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + column];
        c[row * ldc + column] = sum;
    }
}

} // namespace matmul

#endif

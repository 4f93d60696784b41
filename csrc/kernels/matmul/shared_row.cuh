// matmul "shared_row": comes after "kahan".
//
// Change  A block owns a row of C. Its threads carry the row of A into shared memory once; then each computes every
//         256th element.
// Why     All elements of a row of C need the same row of A; from shared memory it is near, and read once.
// Claim   words that threads read from global memory: m*n*k + m*k (before: 2*m*n*k)
// Price   k words of shared memory, a barrier
// Edges   a row longer than the shared memory is walked in segments. A sum must not be broken off, so a block then
//         takes 256 columns at a time and loads all segments for each such group: right for every k, with
//         m*k*ceil(n/256) reads of A
// Map     row = blockIdx.x, column = first + threadIdx.x, first = 0, 256, 512, ...
// Limit   every word of B is still read m times ("tiled"); and rows that begin anywhere ("pitched")
#ifndef CK_MATMUL_SHARED_ROW_CUH
#define CK_MATMUL_SHARED_ROW_CUH

#include "../kahan.cuh"
#include "device_extras.cuh"
#include "operands.cuh"

namespace matmul {

enum { ROW_THREADS = 256 };

// segment: how many elements of a row the block's shared memory holds.
template <typename T, bool PLAIN>
__global__ void __launch_bounds__(ROW_THREADS) shared_row(const operand_stack<T, PLAIN> stack, int segment) {
    DYNAMIC_SHARED(number<T>, a_shared);
    const auto [a, b, c, m, n, k] = stack.of_block();
    const int tid = threadIdx.x;
    const int64_t row = blockIdx.x;
    const auto a_row = a.row(row);
    for (int64_t first = 0; first < n; first += ROW_THREADS) {
        const int64_t column = first + tid;
        const auto b_column = b.column(column);
        kahan_sum<number<T>> total;
        for (int64_t start = 0; start < k; start += segment) {
            const int length = static_cast<int>(k - start < segment ? k - start : segment);
            if (first == 0 || segment < k) { // a row that fits is loaded once and stays
                __syncthreads();             // others may still read the segment before
                for (int i = tid; i < length; i += ROW_THREADS) a_shared[i] = a_row[start + i];
                __syncthreads();
            }
            if (column < n)
                for (int i = 0; i < length; ++i) total.add_product(a_shared[i], b_column[start + i]);
        }
        if (column < n) c.store(row, column, compensated_result(total, a_row, b_column, k));
    }
}

} // namespace matmul

#endif

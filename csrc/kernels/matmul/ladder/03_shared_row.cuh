// matmul "shared_row": comes after "kahan".
//
// Change  One block per row of C. Its threads copy the row of A into shared memory once; then each thread computes
//         every 256th element.
// Why     All elements of a row of C need the same row of A, so it is read from global memory only once.
// Claim   words that threads read from global memory: m*n*k + m*k (before: 2*m*n*k)
// Price   k words of shared memory and a barrier
// Edges   A row that does not fit in shared memory is processed in segments. A sum cannot be interrupted, so a block
//         then takes 256 columns at a time and loads all segments for each group of columns: this works for every k,
//         with m*k*ceil(n/256) reads of A.
// Map     row = blockIdx.x, column = first + threadIdx.x, first = 0, 256, 512, ...
// Limit   Every word of B is still read m times (see "tiled"), and rows are not aligned (see "pitched").
#ifndef CK_MATMUL_SHARED_ROW_CUH
#define CK_MATMUL_SHARED_ROW_CUH

#include "../../compensated.cuh"
#include "device_extras.cuh"
#include "../parts/operands.cuh"

namespace matmul {

enum { ROW_THREADS = 256 };

// segment: the number of elements of a row that fit in the block's shared memory.
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
            if (first == 0 || segment < k) { // a row that fits is loaded only once
                __syncthreads();             // other threads may still read the previous segment
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

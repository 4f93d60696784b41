// The kernel that adds the parts of k in "split_fp16" and "split_bf16", and what it shares with the kernel that
// computes them.
#ifndef CK_MATMUL_SPLIT_ADD_CUH
#define CK_MATMUL_SPLIT_ADD_CUH

#include "split_pieces.cuh"

namespace matmul {

struct split_product_operands {
    output_matrix<float, false> c;
    int m, n, k, products;
    const unsigned *findings;           // as in split_operands
    unsigned *arrivals;                 // likewise
    const float *a_factors, *b_factors; // likewise
    int parts, part_slabs;              // the number of parts of k, and the slabs of each
    float *sums; // of the parts of each product, m x n each; NULL: one part, and the results go to C
    int axes;    // of the stack
    stack_axis axis[STACK_AXES];

    __device__ __forceinline__ output_matrix<float, false> c_of(int product) const {
        output_matrix<float, false> own = c;
#pragma unroll 1 // rarely entered
        for (int i = 0; i < axes; ++i) {
            const int length = static_cast<int>(axis[i].length);
            own.data += product % length * axis[i].c;
            product /= length;
        }
        return own;
    }
    // Where the sums of one part of k go. (split_add adds those of several.)
    __device__ __forceinline__ output_matrix<float, false> results_of(int product, int part) const {
        if (!sums) return c_of(product);
        return {sums + (static_cast<int64_t>(product) * parts + part) * m * n, n, 1};
    }
};

// C = the sum of the parts, added in double. A warp adds 128 neighbors of a row at once, four by each thread. blockIdx.z: the product.
enum { SPLIT_ADD_THREADS = 256, SPLIT_ADD_EACH = 4, SPLIT_ADD_WIDTH = 32 * SPLIT_ADD_EACH };
template <typename T>
__global__ void __launch_bounds__(SPLIT_ADD_THREADS) split_add(const split_product_operands op) {
    wait_for_grid_before();
    let_next_grid_begin();
    const int64_t product = blockIdx.z;
    if (choice_of(op.findings[product]) != split_kind<T>::CHOICE) return;
    const output_matrix<float, false> c = op.c_of(static_cast<int>(product));
    const int64_t elements = static_cast<int64_t>(op.m) * op.n;
    const float *const sums = op.sums + product * op.parts * elements;
    const int64_t of_row = (op.n + SPLIT_ADD_WIDTH - 1) / SPLIT_ADD_WIDTH,
                  warps = gridDim.x * (SPLIT_ADD_THREADS / 32);
    for (int64_t i = blockIdx.x * (SPLIT_ADD_THREADS / 32) + threadIdx.x / 32; i < of_row * op.m; i += warps) {
        const int64_t row = i / of_row, column = i % of_row * SPLIT_ADD_WIDTH + threadIdx.x % 32;
        double total[SPLIT_ADD_EACH] = {};
        for (int part = 0; part < op.parts; ++part) {
            const float *const from = sums + part * elements + row * op.n + column;
            float x[SPLIT_ADD_EACH];
#pragma unroll
            for (int j = 0; j < SPLIT_ADD_EACH; ++j) x[j] = column + j * 32 < op.n ? from[j * 32] : 0;
#pragma unroll
            for (int j = 0; j < SPLIT_ADD_EACH; ++j) // what has overflowed stays infinite
                if (total[j] - total[j] == 0) total[j] += static_cast<double>(x[j]);
        }
#pragma unroll
        for (int j = 0; j < SPLIT_ADD_EACH; ++j)
            if (column + j * 32 < op.n) c.store(row, column + j * 32, static_cast<float>(total[j]));
    }
}

} // namespace matmul

#endif

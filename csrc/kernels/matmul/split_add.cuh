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
};

// C = the sum of the parts, added in double, one thread per element. blockIdx.z: the product.
template <typename T> __global__ void __launch_bounds__(256) split_add(const split_product_operands op) {
    wait_for_grid_before();
    let_next_grid_begin();
    const int64_t product = blockIdx.z;
    if (choice_of(op.findings[product]) != split_kind<T>::CHOICE) return;
    const output_matrix<float, false> c = op.c_of(static_cast<int>(product));
    const int64_t elements = static_cast<int64_t>(op.m) * op.n, step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    const float *const sums = op.sums + product * op.parts * elements;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
        const int64_t row = i / op.n, column = i % op.n;
        double total = 0;
        for (int part = 0; part < op.parts; ++part) // what has overflowed stays infinite
            if (total - total == 0) total += static_cast<double>(sums[part * elements + i]);
        c.store(row, column, static_cast<float>(total));
    }
}

} // namespace matmul

#endif

// What the kernels of "few_rows" share: sizes, the parts of k, and the operands.
#ifndef CK_MATMUL_FEW_OPERANDS_CUH
#define CK_MATMUL_FEW_OPERANDS_CUH

#include "add_groups.cuh"

namespace matmul {

enum {
    FEW_MOST = 16,
    FEW_THREADS = 128, // of few_along
    FEW_LINES = 4,     // of each of its warps
    FEW_ALONG_DEPTH = 256,
    FEW_ACROSS_THREADS = 256,
    FEW_ACROSS_LINES = 32 * 4, // of each block
    FEW_ACROSS_DEPTH = 64
};

// The lines of a block.
inline int64_t few_lines(bool along_k) {
    return along_k ? FEW_THREADS / 32 * FEW_LINES : FEW_ACROSS_LINES;
}

// The parts of k for so many blocks (of all products): as many as run at once, so that loads of the large operand are always under
// way, but none is shorter than a step.
inline int64_t few_parts(int64_t few, bool along_k, int64_t k, int64_t blocks, int64_t multiprocessors) {
    const int64_t each = along_k   ? (few > 8 ? 3 : 4)
                         : few > 8 ? 1
                                   : 2; // blocks of a multiprocessor, by their registers
    const int64_t fit = each * multiprocessors / (blocks > 0 ? blocks : 1);
    const int64_t steps = k / (along_k ? FEW_ALONG_DEPTH : FEW_ACROSS_DEPTH);
    const int64_t parts = fit < steps ? fit : steps;
    return parts > 1 ? parts : 1;
}

// The kernels count in 32 bits.
inline bool few_rows_can(int64_t m, int64_t n, int64_t k) {
    constexpr int64_t MOST = INT32_MAX - FEW_ALONG_DEPTH;
    return m <= MOST && n <= MOST && k <= MOST;
}

// A product with few columns is the transpose of a product with few rows: `few` is the operand with few lines along k,
// and `many` the other one.
struct few_operands {
    const float *few, *many;
    float *c;
    int64_t few_line, few_k, many_line, many_k, c_few, c_many;
    int rows, lines, block, begin, end; // the block of lines; this block's part of k

    // The largest numbers of rows and lines of a block.
    __device__ __forceinline__ few_operands(const operands<float, false> &op, bool columns, const group_sums &sums,
                                            int most_rows, int block_lines)
        : few(columns ? op.b.data : op.a.data), many(columns ? op.a.data : op.b.data),
          few_line(columns ? op.b.column_stride : op.a.row_stride),
          few_k(columns ? op.b.row_stride : op.a.column_stride),
          many_line(columns ? op.a.row_stride : op.b.column_stride),
          many_k(columns ? op.a.column_stride : op.b.row_stride), rows(static_cast<int>(columns ? op.n : op.m)),
          lines(static_cast<int>(columns ? op.m : op.n)) {
        const int blocks = (lines + block_lines - 1) / block_lines;
        const int first = static_cast<int>(blockIdx.x) / blocks * most_rows; // the first row
        block = static_cast<int>(blockIdx.x) % blocks;
        const int part = static_cast<int>(blockIdx.y), parts = static_cast<int>(gridDim.y);
        // Parts begin at multiples of eight, so that they are as aligned as the first one.
        const int k = static_cast<int>(op.k), each = k / 8 / parts,
                  more = k / 8 % parts; // (the first ones have one more)
        const auto first_of = [&](int i) { return i == parts ? k : (i * each + (i < more ? i : more)) * 8; };
        begin = first_of(part), end = first_of(part + 1);
        const output_matrix<float, false> to = sums.target(op, part, parts);
        c = to.data, c_few = columns ? to.column_stride : to.row_stride,
        c_many = columns ? to.row_stride : to.column_stride;
        few += first * few_line, c += first * c_few, rows -= first;
    }
};

} // namespace matmul

#endif

// What the kernels of "few_rows" share: sizes, the parts of k, and the operands.
#ifndef CK_MATMUL_FEW_OPERANDS_CUH
#define CK_MATMUL_FEW_OPERANDS_CUH

#include <string.h>

#include <type_traits>

#include "../../sizes.h"
#include "add_groups.cuh"

namespace matmul {

enum { FEW_MOST = 16, FEW_THREADS = 128, FEW_LINES = 4 };
// few_across: lines of a block that has all of k, and the threads of such a block and of others; rows of B that a
// thread loads at once; and the depth of a step of a block whose warps have whole rows.
enum { FEW_NARROW = 32, FEW_NARROW_THREADS = 512, FEW_ACROSS_THREADS = 256, FEW_LOADS = 8 };
enum { FEW_ACROSS_DEPTH = FEW_ACROSS_THREADS / 32 * FEW_LOADS };

// A thread loads 16 bytes of the large operand at once. FEW_THREADS and FEW_LINES: threads of a block of few_along,
// and lines of each of its warps.
__host__ __device__ constexpr int few_at_once(size_t bytes_of_element) {
    return static_cast<int>(16 / bytes_of_element);
}
__host__ __device__ constexpr int few_along_depth(size_t bytes_of_element) {
    return 64 * few_at_once(bytes_of_element);
}
__host__ __device__ constexpr int few_lines(bool along_k, size_t bytes_of_element) { // of each block
    return along_k ? FEW_THREADS / 32 * FEW_LINES : 32 * few_at_once(bytes_of_element);
}

// Those elements, as they are in memory. (As an array of T, elements of 16 bits would have a register each.)
template <typename T> struct few_elements {
    using bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned short>;
    enum { OF_WORD = 4 / sizeof(T) };
    unsigned words[4];

    __device__ __forceinline__ void load(const T *from) {
        const float4 four = __ldcs(reinterpret_cast<const float4 *>(from));
        memcpy(words, &four, sizeof words);
    }
    __device__ __forceinline__ void set(int i, T value) { // one after another, from 0 on
        bits own;
        memcpy(&own, &value, sizeof own);
        words[i / OF_WORD] = i % OF_WORD == 0 ? own : words[i / OF_WORD] | static_cast<unsigned>(own) << 16;
    }
    __device__ __forceinline__ float operator[](int i) const {
        const bits own = static_cast<bits>(words[i / OF_WORD] >> i % OF_WORD * 16);
        T value;
        memcpy(static_cast<void *>(&value), &own, sizeof value);
        return number_cast<float>(value);
    }
};

// The blocks that a multiprocessor has at once, by their registers.
__host__ __device__ constexpr int few_blocks(bool along_k, int64_t few, size_t bytes_of_element) {
    return along_k ? (few > 8 ? 3 : 4) : few * few_at_once(bytes_of_element) > 32 ? 1 : 2;
}

// The parts of k for so many blocks (of all products): as many as run at once, so that loads of the large operand are
// always under way, but none is shorter than a step.
inline int64_t few_parts(int64_t few, bool along_k, size_t bytes_of_element, int64_t k, int64_t blocks,
                         int64_t multiprocessors) {
    const int64_t each = few_blocks(along_k, few, bytes_of_element);
    const int64_t fit = each * multiprocessors / (blocks > 0 ? blocks : 1);
    const int64_t steps = k / (along_k ? few_along_depth(bytes_of_element) : FEW_ACROSS_DEPTH);
    const int64_t parts = fit < steps ? fit : steps;
    return parts > 1 ? parts : 1;
}

// The grid of a call: the lines and threads of a block, the blocks for all lines and rows, and the parts of k. For
// one row of float32 and enough columns, blocks of few columns have all of k, so that no second kernel adds parts.
// (Not where rows of B would probably not begin at multiples of 32 bytes: of a short piece of a row, a larger part of
// what is read is outside.)
struct few_grid {
    int lines, threads;
    int64_t blocks, parts;
};
inline few_grid few_grid_of(int64_t few, int64_t lines, bool along_k, size_t bytes_of_element, int64_t k,
                            int64_t products, int64_t multiprocessors) {
    const int each = few_lines(along_k, bytes_of_element), threads = along_k ? +FEW_THREADS : +FEW_ACROSS_THREADS;
    const int64_t blocks = product(divide_up(lines, each), divide_up(few, FEW_MOST));
    const int64_t parts = few_parts(few, along_k, bytes_of_element, k, product(blocks, products), multiprocessors);
    const int64_t narrow = divide_up(lines, FEW_NARROW);
    const bool enough = product(narrow, products) >= multiprocessors - multiprocessors / 4;
    if (!along_k && few == 1 && bytes_of_element == 4 && lines % 8 == 0 && parts > 1 && enough)
        return {FEW_NARROW, FEW_NARROW_THREADS, narrow, 1};
    return {each, threads, blocks, parts};
}

// The kernels count in 32 bits.
enum : int64_t { FEW_LONGEST = INT32_MAX - few_along_depth(1) };
inline bool few_rows_can(int64_t m, int64_t n, int64_t k) {
    return m <= FEW_LONGEST && n <= FEW_LONGEST && k <= FEW_LONGEST;
}

// A product with few columns is the transpose of a product with few rows: `few` is the operand with few lines along
// k, and `many` the other one.
template <typename T> struct few_operands {
    const T *few, *many;
    T *c;
    float *sums; // of this part of k; NULL: the results go to C
    int64_t few_line, few_k, many_line, many_k, c_few, c_many;
    int rows, lines, block, begin, end; // the block of lines; this block's part of k

    // The largest numbers of rows and lines of a block.
    __device__ __forceinline__ few_operands(const operands<T, false> &op, bool columns,
                                            const group_sums &sums_of_groups, int most_rows, int block_lines)
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
        const auto to = sums_of_groups.matrix(static_cast<int>(op.m), static_cast<int>(op.n), part,
                                              static_cast<int>(gridDim.z), static_cast<int>(blockIdx.z));
        const int64_t row_stride = parts == 1 ? op.c.row_stride : to.row_stride,
                      column_stride = parts == 1 ? op.c.column_stride : to.column_stride;
        c_few = columns ? column_stride : row_stride, c_many = columns ? row_stride : column_stride;
        c = op.c.data + first * c_few, sums = parts == 1 ? nullptr : to.data + first * c_few;
        few += first * few_line, rows -= first;
    }

    __device__ __forceinline__ void store(int row, int line, float sum) const {
        if (row >= rows || line >= lines) return;
        const int64_t at = row * c_few + line * c_many;
        if (sums)
            sums[at] = sum;
        else
            c[at] = number_cast<T>(sum);
    }
};

} // namespace matmul

#endif

// What the two kernels of "few_rows" share: sizes, what a block computes, and how a thread holds elements of B.
#ifndef CK_MATMUL_FEW_OPERANDS_CUH
#define CK_MATMUL_FEW_OPERANDS_CUH

#include <string.h>

#include <type_traits>

#include "group_sums.cuh"

namespace matmul {

// Rows of C that a block computes at most; the threads of a block of few_along, and the columns of each of its warps.
enum { FEW_MOST = 16, FEW_THREADS = 128, FEW_WARP_COLUMNS = 4 };
// few_across: columns of a block that has all of k, and the threads of such a block and of others; rows of B that a
// thread loads at once; and the depth of a step of a block whose warps have whole rows.
enum { FEW_NARROW = 32, FEW_NARROW_THREADS = 512, FEW_ACROSS_THREADS = 256, FEW_LOADS = 8 };
enum { FEW_ACROSS_DEPTH = FEW_ACROSS_THREADS / 32 * FEW_LOADS };

// A thread loads 16 bytes of B at once.
__host__ __device__ constexpr int few_at_once(size_t bytes_of_element) {
    return static_cast<int>(16 / bytes_of_element);
}
__host__ __device__ constexpr int few_along_depth(size_t bytes_of_element) {
    return 64 * few_at_once(bytes_of_element);
}
__host__ __device__ constexpr int few_columns(bool along_k, size_t bytes_of_element) { // of each block
    return along_k ? FEW_THREADS / 32 * FEW_WARP_COLUMNS : 32 * few_at_once(bytes_of_element);
}
// The blocks that a multiprocessor has at once, by their registers.
__host__ __device__ constexpr int few_blocks(bool along_k, int64_t rows, size_t bytes_of_element) {
    return along_k ? (rows > 8 ? 3 : 4) : rows * few_at_once(bytes_of_element) > 32 ? 1 : 2;
}

// 16 bytes of B, as they are in memory. (As an array of T, elements of 16 bits would have a register each.)
template <typename T> struct few_elements {
    using bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned short>;
    enum { OF_WORD = 4 / sizeof(T) };
    unsigned words[4];

    // The hint (ld.global.cs) says that each element is read once.
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
        return static_cast<float>(value);
    }
};

// What a block computes: some rows of C, the columns of the block, and a part of k. All counts have 32 bits.
template <typename T> struct few_operands {
    input_matrix<T, false> a, b; // A from the block's first row on
    T *c;
    float *sums; // of this part of k; NULL: the results go to C
    int64_t c_row, c_column;
    int rows, columns, block, begin, end; // from the first row on; all columns; the block of columns; the part of k

    // The largest numbers of rows and columns of a block.
    __device__ __forceinline__ few_operands(const operands<T, false> &op, const group_sums &sums_of_groups,
                                            int most_rows, int block_columns)
        : a(op.a), b(op.b), rows(static_cast<int>(op.m)), columns(static_cast<int>(op.n)) {
        const int blocks = (columns + block_columns - 1) / block_columns;
        const int first_row = static_cast<int>(blockIdx.x) / blocks * most_rows;
        block = static_cast<int>(blockIdx.x) % blocks;
        const int part = static_cast<int>(blockIdx.y), parts = static_cast<int>(gridDim.y);
        const int k = static_cast<int>(op.k);
        begin = first_of_part(part, parts, k), end = first_of_part(part + 1, parts, k);
        const auto to =
            sums_of_groups.matrix(rows, columns, part, static_cast<int>(gridDim.z), static_cast<int>(blockIdx.z));
        c_row = parts == 1 ? op.c.row_stride : to.row_stride;
        c_column = parts == 1 ? op.c.column_stride : to.column_stride;
        c = op.c.data + first_row * c_row, sums = parts == 1 ? nullptr : to.data + first_row * c_row;
        a.data += first_row * a.row_stride, rows -= first_row;
    }

    // Parts begin at multiples of eight, so that they are as aligned as the first one. (The first ones have eight
    // more.)
    static __device__ __forceinline__ int first_of_part(int part, int parts, int k) {
        const int each = k / 8 / parts, more = k / 8 % parts;
        return part == parts ? k : (part * each + (part < more ? part : more)) * 8;
    }

    // An element of A, or 0 outside of the rows or the part of k.
    __device__ __forceinline__ float element_of_a(int row, int k) const {
        return row < rows && k < end ? static_cast<float>(a.data[row * a.row_stride + k * a.column_stride]) : 0;
    }

    __device__ __forceinline__ void store(int row, int column, float sum) const {
        if (row >= rows || column >= columns) return;
        const int64_t at = row * c_row + column * c_column;
        if (sums)
            sums[at] = sum;
        else
            c[at] = static_cast<T>(sum);
    }
};

} // namespace matmul

#endif

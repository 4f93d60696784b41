// The arguments of a matmul kernel: matrices with any layout in memory, and stacks of them.
//
//     const auto [a, b, c, m, n, k] = stack.of_block();                // of this block's product: C is m x n
//     const auto a_row = a.row(row);
//     const auto b_column = b.column(column);
//     for (int64_t i = 0; i < k; ++i) sum += a_row[i] * b_column[i];   // as numbers: element.cuh
//     c.store(row, column, sum);
//
// Strides may have any value: a transposed matrix has its two strides exchanged, a broadcast matrix has zeros, and
// one that is read backwards has negative strides. blockIdx.z chooses the product of the stack.
//
// PLAIN: two matrices, no stack, and the elements of each row are contiguous. What is known at compile time costs
// nothing at run time. Otherwise each load computes its own 64-bit address, and the pointers take registers, so that
// fewer loads are in flight.
//
// Elements are converted by C++'s own casts: number<T> is T, or a wider type of the same kind.
#ifndef CK_MATMUL_OPERANDS_CUH
#define CK_MATMUL_OPERANDS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "../../element.cuh"

namespace matmul {

// A row or a column: elements at a constant stride, counted in elements as all strides here. NEXT: the stride is 1.
template <typename T, bool NEXT> struct input_line {
    const T *data;
    int64_t stride;

    __device__ __forceinline__ number<T> operator[](int64_t i) const {
        return static_cast<number<T>>(data[NEXT ? i : i * stride]);
    }
};

template <typename T, bool PLAIN> struct input_matrix {
    const T *data;
    int64_t row_stride, column_stride;

    __device__ __forceinline__ input_line<T, PLAIN> row(int64_t row) const {
        return {data + row * row_stride, column_stride};
    }
    __device__ __forceinline__ input_line<T, false> column(int64_t column) const {
        return {data + (PLAIN ? column : column * column_stride), row_stride};
    }
};

template <typename T, bool PLAIN> struct output_matrix {
    T *data;
    int64_t row_stride, column_stride;

    __device__ __forceinline__ void store(int64_t row, int64_t column, number<T> value) const {
        data[row * row_stride + (PLAIN ? column : column * column_stride)] = static_cast<T>(value);
    }
};

// Two neighbors of a row, those that are inside the matrix: in one store where they lie side by side.
template <typename T, typename Value>
__device__ __forceinline__ void store_pair(const output_matrix<T, false> &c, int64_t row, int64_t column, int64_t m,
                                           int64_t n, Value first, Value second) {
    if (row >= m || column >= n) return;
    struct alignas(2 * sizeof(T)) pair {
        T first, second;
    };
    T *const to = c.data + row * c.row_stride + column * c.column_stride;
    const bool two = column + 1 < n;
    if (two && c.column_stride == 1 && reinterpret_cast<uintptr_t>(to) % sizeof(pair) == 0) {
        *reinterpret_cast<pair *>(to) = {static_cast<T>(first), static_cast<T>(second)};
    } else {
        to[0] = static_cast<T>(first);
        if (two) to[c.column_stride] = static_cast<T>(second);
    }
}

// One axis of a stack: the number of products along it, and the distance between their matrices.
struct stack_axis {
    int64_t length, a, b, c;

    // C^T = B^T A^T.
    __host__ stack_axis transposed() const { return {length, b, a, c}; }

    // True if the two lie as one longer axis would.
    bool goes_on_with(const stack_axis &outer) const {
        return outer.a == a * length && outer.b == b * length && outer.c == c * length;
    }
};

// a is m x k, b is k x n, c is m x n.
template <typename T, bool PLAIN> struct operands {
    input_matrix<T, PLAIN> a, b;
    output_matrix<T, PLAIN> c;
    int64_t m, n, k;

    // C^T = B^T A^T.
    __host__ operands transposed() const {
        return {{b.data, b.column_stride, b.row_stride},
                {a.data, a.column_stride, a.row_stride},
                {c.data, c.column_stride, c.row_stride},
                n,
                m,
                k};
    }

    __host__ __device__ __forceinline__ void skip(const stack_axis &axis, int64_t products) {
        a.data += products * axis.a;
        b.data += products * axis.b;
        c.data += products * axis.c;
    }
};

// The products of a launch: the operands of the first one, and the axes, innermost first. A stack with more axes is
// split into several launches. A grid has at most 65535 blocks in z, so 32 bits are enough to count them: a division
// of 64 bits would cost every kernel registers, and thus threads that a multiprocessor can hold.
enum { STACK_AXES = 4 };

template <typename T, bool PLAIN> struct operand_stack {
    operands<T, PLAIN> first;
    int axes;
    stack_axis axis[PLAIN ? 1 : STACK_AXES];

    __host__ operand_stack transposed() const {
        operand_stack other = *this;
        other.first = first.transposed();
        for (stack_axis &each : other.axis) each = each.transposed();
        return other;
    }

    __device__ __forceinline__ operands<T, PLAIN> of_block() const {
        operands<T, PLAIN> mine = first;
        unsigned number = blockIdx.z;
#pragma unroll 1 // rarely entered: not worth the instructions
        for (int i = 0; !PLAIN && i < axes; ++i) {
            const unsigned length = static_cast<unsigned>(axis[i].length);
            mine.skip(axis[i], number % length);
            number /= length;
        }
        return mine;
    }
};

} // namespace matmul

#endif

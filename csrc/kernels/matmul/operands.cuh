// What a kernel of matmul is given: matrices that lie in memory in any way, and stacks of them.
//
//     const auto [a, b, c, m, n, k] = stack.of_block();                // of this block's product: C is m x n
//     const auto a_row = a.row(row), b_column = b.column(column);
//     for (int64_t i = 0; i < k; ++i) sum += a_row[i] * b_column[i];   // as numbers: element.cuh
//     c.store(row, column, sum);
//
// Strides may be anything: a transposed matrix has its two exchanged, a broadcast one has zeros, one that is read
// backwards has negative ones. blockIdx.z chooses the product of the stack.
#ifndef CK_MATMUL_OPERANDS_CUH
#define CK_MATMUL_OPERANDS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "element.cuh"

namespace matmul {

// A row or a column: elements at one distance.
template <typename T> struct input_line {
    const T *data;
    int64_t stride; // in elements, as all strides here

    __device__ __forceinline__ number<T> operator[](int64_t i) const {
        return number_cast<number<T>>(data[i * stride]);
    }
};

template <typename T> struct input_matrix {
    const T *data;
    int64_t row_stride, column_stride;

    __device__ __forceinline__ input_line<T> row(int64_t row) const {
        return {data + row * row_stride, column_stride};
    }
    __device__ __forceinline__ input_line<T> column(int64_t column) const {
        return {data + column * column_stride, row_stride};
    }
};

template <typename T> struct output_matrix {
    T *data;
    int64_t row_stride, column_stride;

    __device__ __forceinline__ void store(int64_t row, int64_t column, number<T> value) const {
        data[row * row_stride + column * column_stride] = number_cast<T>(value);
    }
};

// One axis of a stack: how many products there are along it, and how far apart their matrices are.
struct stack_axis {
    int64_t length, a, b, c;

    // True if the two lie as one longer axis would.
    bool goes_on_with(const stack_axis &outer) const {
        return outer.a == a * length && outer.b == b * length && outer.c == c * length;
    }
};

// a is m x k, b is k x n, c is m x n.
template <typename T> struct operands {
    input_matrix<T> a, b;
    output_matrix<T> c;
    int64_t m, n, k;

    __host__ __device__ __forceinline__ void skip(const stack_axis &axis, int64_t products) {
        a.data += products * axis.a;
        b.data += products * axis.b;
        c.data += products * axis.c;
    }
};

// The products of a launch: the operands of the first one, and the axes, innermost first; a stack of more axes is cut
// into several launches. A grid has at most 65535 blocks in z, so 32 bits do to count them: a division by 64 bits
// would cost every kernel registers, and so threads that a multiprocessor can hold.
enum { STACK_AXES = 4 };

template <typename T> struct operand_stack {
    operands<T> first;
    int axes;
    stack_axis axis[STACK_AXES];

    __device__ __forceinline__ operands<T> of_block() const {
        operands<T> mine = first;
        unsigned number = blockIdx.z;
#pragma unroll 1 // seldom entered: not worth instructions
        for (int i = 0; i < axes; ++i) {
            const unsigned length = static_cast<unsigned>(axis[i].length);
            mine.skip(axis[i], number % length);
            number /= length;
        }
        return mine;
    }
};

} // namespace matmul

#endif

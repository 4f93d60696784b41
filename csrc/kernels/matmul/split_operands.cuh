// The data that the kernels of "split_fp16" and "split_bf16" share: the two operands as lines along k (rows of A,
// columns of B), the statistics of the lines, and the decision that the device makes from them.
//
// All of it is in the workspace of the call, whose parts split_workspace describes. The kernels run one after another,
// and each reads the results of those before it:
//
//     split_clear    sets the statistics to zero
//     split_largest  the largest magnitude of each line, and of each index of k (split_scales.cuh)
//     split_balance  the powers of two that balance k; whether all elements are finite
//     split_tops     only if k is balanced: the largest exponent of each line after balancing
//     split_pieces   each element, scaled, as two or three pieces of 16 bits; counts for the check (split_pieces.cuh)
//     split_choose   the check: fp16 or bf16 (split_choose.cuh)
//     split_product  the product of the pieces (split_fp16.cuh)
//     split_add      only if k is divided: the sum of the parts (split_add.cuh)
//
// The host does not wait for the decisions of the device: it launches the kernels of every path, and those of paths
// that are not taken end at once.
#ifndef CK_MATMUL_SPLIT_OPERANDS_CUH
#define CK_MATMUL_SPLIT_OPERANDS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "operands.cuh"

namespace matmul {

// SPLIT_NOT: an element is infinite or NaN, or so small that bf16 would lose it
enum split_choice { SPLIT_OPEN, SPLIT_IN_FP16, SPLIT_IN_BF16, SPLIT_NOT };

// One operand. Element (line, k) of product p is at data + p's offset + line * line_stride + k * k_stride. Arrays "for
// each line" (or k) are those of product 0, then those of product 1, and so on.
struct split_side {
    const float *data;
    int64_t line_stride, k_stride;
    int lines;
    // For each line. `largest` has the bits of a magnitude; as integers, they have the same order as the magnitudes.
    unsigned *largest;
    unsigned *top;                         // largest exponent after balancing, + SPLIT_BIAS; 0: all zeros
    unsigned *lossy, *small, *good, *mass; // for the check: see split_choose
    int *exponent;                         // the line's largest magnitude is in [2^exponent, 2^(exponent + 1))
    unsigned *largest_of_k;                // for each k
    void *
        pieces; // piece i of element (line, k) of product p: 16 bits at ((p * PIECES + i) * lines + line) * pitch + k
};

struct split_operands {
    int *choice;        // for each product: split_choice
    int *balanced;      // for each product: 1 if each index of k has its own power of two
    split_side side[2]; // A and B
    int *balance;       // for each k: A's elements are multiplied by 2^balance, and B's divided by it
    int k, products;
    int64_t pitch; // elements from line to line in the pieces
    int axes;      // of the stack
    stack_axis axis[STACK_AXES];
};

enum { SPLIT_BIAS = 1024, SPLIT_NO_PRODUCTS = 4096 }; // the second: in `balance`, where all products are 0

// The exponent of a finite magnitude from its bits: the e with 2^e <= x < 2^(e + 1).
__device__ __forceinline__ int exponent_of(unsigned bits) {
    return bits >> 23 != 0 ? static_cast<int>(bits >> 23) - 127 : 31 - __clz(static_cast<int>(bits)) - 149;
}

// 2^exponent for exponents from -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
    return __int_as_float((exponent + 127) << 23);
}

// x * 2^exponent, rounded at most once, in two steps: the factor alone may be out of range.
__device__ __forceinline__ float scaled(float x, int exponent) {
    const int e = exponent < -252 ? -252 : exponent > 252 ? 252 : exponent, half = e >> 1;
    return x * power_of_two(half) * power_of_two(e - half);
}

// The same for a sum of up to 2^127 and exponents down to -408, which scale back what was scaled to 2^55 or less: below
// -252, a large sum may still have a result that is not 0.
__device__ __forceinline__ float scaled_back(float x, int exponent) {
    const int first = exponent < -252 ? -126 : 0;
    return scaled(x * power_of_two(first), exponent - first);
}

// A or B of one product.
template <int PIECES = 0>
__device__ __forceinline__ split_side side_of(const split_operands &op, int number, int product) {
    split_side side = op.side[number];
    const int64_t lines = static_cast<int64_t>(product) * side.lines;
    side.largest += lines, side.top += lines, side.lossy += lines, side.small += lines, side.good += lines;
    side.mass += lines, side.exponent += lines, side.largest_of_k += static_cast<int64_t>(product) * op.k;
    side.pieces = static_cast<unsigned short *>(side.pieces) + PIECES * lines * op.pitch;
#pragma unroll 1 // rarely entered
    for (int i = 0; i < op.axes; ++i) {
        const int length = static_cast<int>(op.axis[i].length);
        side.data += product % length * (number == 0 ? op.axis[i].a : op.axis[i].b);
        product /= length;
    }
    return side;
}

// The order in which an operand is read: lanes along the axis whose elements are contiguous.
struct split_reading {
    bool along_k;
    int inner, outer; // the lengths of the axis along the lanes, and of the other one
    int64_t inner_stride, outer_stride;

    __device__ __forceinline__ split_reading(const split_side &side, int k) {
        const int64_t line = side.line_stride < 0 ? -side.line_stride : side.line_stride;
        along_k = (side.k_stride < 0 ? -side.k_stride : side.k_stride) <= line;
        inner = along_k ? k : side.lines, outer = along_k ? side.lines : k;
        inner_stride = along_k ? side.k_stride : side.line_stride;
        outer_stride = along_k ? side.line_stride : side.k_stride;
    }
};

// A warp's part of a tile: rows warp, warp + WARPS, ... and columns lane, lane + 32, ... of it. All loads begin before
// a value is used. Elements outside the operand are zeros.
template <int WARPS, int ROWS, int COLUMNS>
__device__ __forceinline__ void read_tile(float (&x)[ROWS][COLUMNS], const float *data, const split_reading &order,
                                          int first_outer, int first_inner) {
    const int row = first_outer + static_cast<int>(threadIdx.x) / 32;
    const int column = first_inner + static_cast<int>(threadIdx.x) % 32;
    const float *from = data + row * order.outer_stride + column * order.inner_stride;
    const int64_t down = WARPS * order.outer_stride, across = 32 * order.inner_stride;
    if (first_outer + WARPS * ROWS <= order.outer && first_inner + 32 * COLUMNS <= order.inner) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i, from += down)
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) x[i][j] = from[j * across];
    } else {
#pragma unroll
        for (int i = 0; i < ROWS; ++i, from += down)
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j)
                x[i][j] = row + i * WARPS < order.outer && column + j * 32 < order.inner ? from[j * across] : 0;
    }
}

} // namespace matmul

#endif

// The data that the kernels of "split_fp16" and "split_bf16" share: the two operands as lines along k (rows of A,
// columns of B), their pieces and their scales.
//
// All of it is in the workspace of the call (split_workspace). The kernels run one after another, and each reads the
// results of those before it:
//
//     split_clear    nothing is found yet (in "split_bf16": nothing is for fp16), and no cluster or warp has arrived
//     split_pieces   each element, scaled, as two or three pieces of 16 bits; the check
//     split_product  the product of the pieces
//     split_inside   if the check of fp16 failed; or, where it would be slower, the last two again in bf16, and
//                    "warp_tiles"
//
// The host does not wait for the decisions of the device: it launches the kernels of every path, and those of paths
// that are not taken end at once.
#ifndef CK_MATMUL_SPLIT_OPERANDS_CUH
#define CK_MATMUL_SPLIT_OPERANDS_CUH

#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "split_findings.cuh"

namespace matmul {

enum { SPLIT_LINES = 16, SPLIT_DEPTH = 64 }; // of a block of elements that are scaled alike

// A block is scaled by a power of two from 2^-DOWN to 2^UP. TOP: the exponent that its largest magnitude gets, if
// these limits allow; LEAST: that of the smallest element that keeps its bits. What undoes the scales of two blocks,
// up to 2^(2 DOWN), must be finite. A block at the limit DOWN has elements up to 2^65, others below 2^56: 64 products
// of the two stay below 2^128. (If both are at the limit, such a sum is infinite in float32, too.)
template <typename T> struct split_kind;
template <> struct split_kind<__half> {
    enum { PIECES = 2, TOP = 14, UP = 59, DOWN = 59, LEAST = -3, CHOICE = SPLIT_IN_FP16 };
};
template <> struct split_kind<__nv_bfloat16> {
    enum { PIECES = 3, TOP = 55, UP = 74, DOWN = 63, LEAST = -51, CHOICE = SPLIT_IN_BF16 };
};

// One operand. Element (line, k) of product p is at data + p's offset + line * line_stride + k * k_stride.
struct split_side {
    const float *data;
    int64_t line_stride, k_stride;
    int lines;
    bool aligned; // four neighbors along the contiguous axis may be read at once
    // Piece i of element (line, k) of product p: 16 bits at ((p * PIECES + i) * padded + place) * pitch + k, where
    // `padded` is the number of lines in whole blocks, and `place` that of the line among them (split_place).
    void *pieces;
    // What undoes the scale of each block: that of slab s and block b of lines at (p * slabs + s) * blocks + b.
    float *factors;
};

// Where the matrices of a stack are.
struct split_stack {
    int axes;
    struct {
        int64_t length, apart[3]; // the number of products, and the distances of their matrices in A, B and C
    } axis[4];                    // innermost first

    // Of matrix 0 (A), 1 (B) or 2 (C) of a product, from that of the first one on.
    __device__ __forceinline__ int64_t offset(int product, int matrix) const {
        int64_t offset = 0;
#pragma unroll 1 // rarely entered
        for (int i = 0; i < axes; ++i) {
            const int length = static_cast<int>(axis[i].length);
            offset += product % length * axis[i].apart[matrix];
            product /= length;
        }
        return offset;
    }
};

struct split_operands {
    unsigned *findings; // for each product: bits of split_findings
    split_side side[2]; // A and B
    int k, products;
    int64_t pitch; // elements from line to line in the pieces
    split_stack stack;
};

// Of an operand: the number of blocks along k, and along the lines; and the lines in whole blocks.
__host__ __device__ __forceinline__ int split_slabs(int k) {
    return (k + SPLIT_DEPTH - 1) / SPLIT_DEPTH;
}
__host__ __device__ __forceinline__ int split_blocks(int lines) {
    return (lines + SPLIT_LINES - 1) / SPLIT_LINES;
}
__host__ __device__ __forceinline__ int split_padded(int lines) {
    return split_blocks(lines) * SPLIT_LINES;
}

// The place of a column of B among the pieces. The tensor cores give a thread elements 2j, 2j + 1, 8 + 2j and 8 + 2j
// + 1 of each 16 columns of a tile. In this order, these are four neighbors in C, which are stored at once.
__host__ __device__ __forceinline__ int split_place(int column) {
    const int j = column / 4 % 4;
    return column / 16 * 16 + column % 4 / 2 * 8 + 2 * j + column % 2;
}

} // namespace matmul

#endif

// The data that the kernels of "split_fp16" and "split_bf16" share: the two operands as lines along k (rows of A,
// columns of B), their pieces and scales, and the decision that the device makes.
//
// All of it is in the workspace of the call, whose parts split_workspace describes. The kernels run one after
// another, and each reads the results of those before it:
//
//     split_clear    nothing is found yet (in "split_bf16": nothing is for fp16), and no cluster or warp has arrived
//     split_pieces   each element, scaled, as two or three pieces of 16 bits; the check (split_pieces.cuh)
//     split_product  the product of the pieces (split_fp16.cuh)
//     split_inside   if the check of fp16 failed; or, where it would be slower, the last two again in bf16, and
//                    "warp_tiles"
//
// The host does not wait for the decisions of the device: it launches the kernels of every path, and those of paths
// that are not taken end at once.
#ifndef CK_MATMUL_SPLIT_OPERANDS_CUH
#define CK_MATMUL_SPLIT_OPERANDS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "operands.cuh"

namespace matmul {

// What split_pieces finds in the operands of a product, all bits together (of B: shifted by FOUND_B). split_check.cuh
// says why.
//
// FOUND_LOSSY: an element that two pieces in fp16 do not hold FOUND_FEW_GOOD: the first of some bits, one for each
// limit: a line has lossy elements, and too few good ones for that limit FOUND_FEW_FAIR, likewise: a line has fewer
// fair elements than the limit FOUND_NOT_FP16: something that is not for fp16; FOUND_NOT_BF16: something that is not
// for bf16 either: an element is infinite or NaN, or so small that bf16 would lose it
enum { FOUND_LIMITS = 6 };
enum split_findings : unsigned {
    FOUND_LOSSY = 1,
    FOUND_FEW_GOOD = 2,
    FOUND_FEW_FAIR = FOUND_FEW_GOOD << FOUND_LIMITS,
    FOUND_B = 1 + 2 * FOUND_LIMITS,
    FOUND_IN_ONE = (1 << FOUND_B) - 1, // the bits of one operand
    FOUND_NOT_FP16 = 1 << 2 * FOUND_B,
    FOUND_NOT_BF16 = FOUND_NOT_FP16 << 1
};

// Whether the lossy elements of one operand may do harm: true if no limit holds for the lines of both.
__device__ __forceinline__ bool lossy_do_harm(unsigned own, unsigned other) {
    constexpr unsigned ALL = (1 << FOUND_LIMITS) - 1;
    return (own & FOUND_LOSSY) != 0 && ((own / FOUND_FEW_GOOD | other / FOUND_FEW_FAIR) & ALL) == ALL;
}

// What computes the product, then.
enum split_choice { SPLIT_IN_FP16, SPLIT_IN_BF16, SPLIT_NOT };
__device__ __forceinline__ int choice_of(unsigned findings) {
    const unsigned in_a = findings & FOUND_IN_ONE, in_b = findings >> FOUND_B & FOUND_IN_ONE;
    if (findings & FOUND_NOT_BF16) return SPLIT_NOT;
    const bool harm = lossy_do_harm(in_a, in_b) || lossy_do_harm(in_b, in_a);
    return harm || (findings & FOUND_NOT_FP16) ? SPLIT_IN_BF16 : SPLIT_IN_FP16;
}

enum { SPLIT_LINES = 16, SPLIT_DEPTH = 64 }; // of a block of elements that are scaled alike

// For a shorter k, sums leave the tensor cores twice in a slab in tiles of 208 columns, too.
enum { SPLIT_LONG = 1728 };

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

struct split_operands {
    unsigned *findings; // for each product: bits of split_findings
    split_side side[2]; // A and B
    int k, products;
    int64_t pitch; // elements from line to line in the pieces
    int axes;      // of the stack
    stack_axis axis[STACK_AXES];
};

// Of an operand: the number of blocks along k, and along the lines.
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

// The exponent of a finite magnitude from its bits: the e with 2^e <= x < 2^(e + 1).
__device__ __forceinline__ int exponent_of(unsigned bits) {
    return bits >> 23 != 0 ? static_cast<int>(bits >> 23) - 127 : 31 - __clz(static_cast<int>(bits)) - 149;
}

// 2^exponent for exponents from -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
    return __int_as_float((exponent + 127) << 23);
}

// A or B of one product.
template <int PIECES>
__device__ __forceinline__ split_side side_of(const split_operands &op, int number, int product) {
    split_side side = op.side[number];
    const int64_t lines = static_cast<int64_t>(product) * split_padded(side.lines);
    side.factors += static_cast<int64_t>(product) * split_slabs(op.k) * split_blocks(side.lines);
    side.pieces = static_cast<unsigned short *>(side.pieces) + PIECES * lines * op.pitch;
#pragma unroll 1 // rarely entered
    for (int i = 0; i < op.axes; ++i) {
        const int length = static_cast<int>(op.axis[i].length);
        side.data += product % length * (number == 0 ? op.axis[i].a : op.axis[i].b);
        product /= length;
    }
    return side;
}

} // namespace matmul

#endif

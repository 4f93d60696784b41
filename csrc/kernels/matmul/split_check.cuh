// The check of "split_fp16", while the pieces are written: whether two pieces in fp16 are good enough for the data of this call.
//
// After scaling, the largest magnitude of a block is in [2^14, 2^15). The low piece is exact to 2^-25, because numbers in fp16
// get no closer together than 2^-24. So an element of 2^-3 or more keeps 22 bits, and a smaller one, less than 2^-17 of the
// block's largest, is lossy.
#ifndef CK_MATMUL_SPLIT_CHECK_CUH
#define CK_MATMUL_SPLIT_CHECK_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "split_blocks.cuh"

namespace matmul {

// A block is scaled by a power of two from 2^-DOWN to 2^UP. TOP: the exponent that its largest magnitude gets, if these limits
// allow; LEAST: that of the smallest element that keeps its bits. What undoes the scales of two blocks, up to 2^(2 DOWN), must
// be finite. A block at the limit DOWN has elements up to 2^65, others below 2^56: 64 products of the two stay below 2^128. (If both are
// at the limit, such a sum is infinite in float32, too.)
template <typename T> struct split_kind;
template <> struct split_kind<__half> {
    enum { PIECES = 2, TOP = 14, UP = 59, DOWN = 59, LEAST = -3, CHOICE = SPLIT_IN_FP16 };
};
template <> struct split_kind<__nv_bfloat16> {
    enum { PIECES = 3, TOP = 55, UP = 74, DOWN = 63, LEAST = -51, CHOICE = SPLIT_IN_BF16 };
};

// The check of a line in a block. Of its elements that are not 0, after scaling, `lossy` are less than 2^-3, `small` less than
// 2^2, `large` 2^2 or more, and `good` 2^10 or more. The errors of the lossy ones, up to 2^-25 each, add at most lossy 2^-10
// to an element of C, because no element of the other operand is larger than 2^15. That is 2^-22 |A||B| or less if `lossy`
// good elements meet one of 2^2 or more. They do if the line has 8 good ones for each lossy one, and the line of the other
// operand no more than 7 small ones and no zeros. (If it has zeros, these are assumed to leave enough of the good ones: a line
// is sparse if it has fewer than 8 large ones. That is no proof: zeros of A and B may avoid each other.)
template <typename T> struct line_counts {
    int lossy, small, large, good;

    __device__ __forceinline__ unsigned findings() const {
        if (split_kind<T>::PIECES == 3) return lossy > 0 ? unsigned(FOUND_NOT_BF16) : 0;
        unsigned findings = lossy > 0 ? unsigned(FOUND_LOSSY) : 0;
        if (small + large > 0 && large < 8) findings |= FOUND_SPARSE;
        if (small > 7 || 8 * lossy > good) findings |= FOUND_NOT_FP16;
        return findings;
    }
};

// An element in the counts of its line: eight bits for each.
template <typename T> __device__ __forceinline__ unsigned counted(float x, float factor) {
    const float size = fabsf(x * factor);
    return size >= 1024                                ? 0x1010000
           : size >= 4                                 ? 0x10000
           : x == 0                                    ? 0
           : size < power_of_two(split_kind<T>::LEAST) ? 0x101
                                                       : 0x100;
}

// For all lines of a block; eight threads share a line. LAST: the block has fewer than 32 elements along k, and `before` is the block in the slab
// before. Its elements count, too, after the same scaling, but none of them as lossy. (These are functions, so that the rare paths take no
// registers; and they are short, because their instructions come from memory.)
template <typename T, bool LAST>
__device__ __noinline__ unsigned check_lines(block_values &values, float factor, const float *before = nullptr,
                                             int64_t line_stride = 0, int64_t k_stride = 0, int lines = 0) {
    constexpr int GROUPS = PIECES_FOURS / 2, EACH = SPLIT_DEPTH / 8;
    float more[GROUPS][EACH] = {};
    if (LAST) {
        const float *from = before + own_line(0) * line_stride + static_cast<int>(threadIdx.x) % 8 * k_stride;
#pragma unroll
        for (int i = 0; i < GROUPS; ++i, from += 4 * line_stride)
#pragma unroll
            for (int j = 0; j < EACH; ++j)
                if (own_line(i * 2) < lines) more[i][j] = from[j * 8 * k_stride];
    }
    unsigned findings = 0;
#pragma unroll(LAST ? GROUPS : 1)
    for (int i = 0; i < GROUPS; ++i) {
        unsigned own = 0;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float4 x = four_of(values, i * 2 + half);
            for (const float y : {x.x, x.y, x.z, x.w}) own += counted<T>(y, factor);
        }
        if (LAST)
#pragma unroll
            for (int j = 0; j < EACH; ++j) own += counted<T>(more[i][j], factor) & ~0xffu;
#pragma unroll
        for (int lanes = 1; lanes < 8; lanes *= 2) own += __shfl_xor_sync(0xffffffffu, own, lanes);
        findings |= line_counts<T>{static_cast<int>(own & 255), static_cast<int>(own >> 8 & 255),
                                   static_cast<int>(own >> 16 & 255), static_cast<int>(own >> 24)}
                        .findings();
    }
    return __reduce_or_sync(0xffffffffu, findings);
}

} // namespace matmul

#endif

// The check of "split_fp16", while the pieces are written: whether two pieces in fp16 are good enough for the data of
// this call.
//
// After scaling, the largest magnitude of a block is in [2^14, 2^15). The low piece is exact to 2^-25, because
// numbers in fp16 get no closer together than 2^-24. So an element of 2^-3 or more keeps 22 bits, and a smaller one,
// less than 2^-17 of the block's largest, is lossy.
#ifndef CK_MATMUL_SPLIT_CHECK_CUH
#define CK_MATMUL_SPLIT_CHECK_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "split_blocks.cuh"

namespace matmul {

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

// The check. The errors of lossy elements, up to 2^-25 each, add at most 2^-10 for each to an element of C, because
// no element of the other operand is larger than 2^15. That is 2^-22 |A||B| or less if there is a product of 2^12 for
// each of them: a `good` element of its line, 2^8 or more, that meets a `fair` one of the other line, 2^4 or more. (A
// pair may count for lossy elements of both lines. Then both of its elements are good, and their product is 2^16 or
// more, which is enough for both.) They meet in good + fair - places or more of the places along k, wherever zeros
// may be. So it is enough if, for some limit,
//
//     places - good + lossy <= limit     in each line that has lossy elements, and
//     fair >= limit                      in each line of the other operand that has elements other than 0
//
// There are a few limits, parts of the places, so that one word holds what has been found. A block has 64 places, but
// the last one may have fewer. If it has fewer than 32, the block in the slab before is added: then that may have to
// make up for two, and the error is up to twice as large.
enum { SPLIT_FEW = 8, SPLIT_GOOD = 1 << 8, SPLIT_FAIR = 1 << 4 };
__device__ __forceinline__ int limit_of(int i, int places) {
    const int limits[FOUND_LIMITS] = {SPLIT_FEW, 12, 16, 24, 40, SPLIT_DEPTH - SPLIT_FEW}; // of 64
    return limits[i] * places / SPLIT_DEPTH;
}

// Of the elements of a line that are not 0, after scaling.
template <typename T> struct line_counts {
    int lossy, others, fair, good; // fair: with the good ones; others: neither lossy nor fair

    __device__ __forceinline__ unsigned findings(int places) const {
        if (split_kind<T>::PIECES == 3) return lossy > 0 ? unsigned(FOUND_NOT_BF16) : 0;
        unsigned findings = lossy > 0 ? unsigned(FOUND_LOSSY) : 0;
#pragma unroll
        for (int i = 0; i < FOUND_LIMITS; ++i) {
            const int limit = limit_of(i, places);
            if (lossy > 0 && places - good + lossy > limit) findings |= FOUND_FEW_GOOD << i;
            if (lossy + others + fair > 0 && fair < limit) findings |= FOUND_FEW_FAIR << i;
        }
        return findings;
    }
};

// An element in the counts of its line: eight bits for each.
template <typename T> __device__ __forceinline__ unsigned counted(float x, float factor) {
    const float size = fabsf(x * factor);
    return size >= SPLIT_GOOD                          ? 0x1010000
           : size >= SPLIT_FAIR                        ? 0x10000
           : x == 0                                    ? 0
           : size < power_of_two(split_kind<T>::LEAST) ? 0x1
                                                       : 0x100;
}

// For all lines of a block; eight threads share a line. LAST: the block has fewer than 32 elements along k, and
// `before` is the block in the slab before. Its elements count, too, after the same scaling, but none of them as
// lossy. `places`: how many of all these a line has. (These are functions, so that the rare paths take no registers;
// and they are short, because their instructions come from memory.)
template <typename T, bool LAST>
__device__ __noinline__ unsigned check_lines(block_values &values, float factor, int places,
                                             const float *before = nullptr, int64_t line_stride = 0,
                                             int64_t k_stride = 0, int lines = 0) {
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
                        .findings(places);
    }
    return __reduce_or_sync(0xffffffffu, findings);
}

} // namespace matmul

#endif

// Blocks of 16 lines by 64 elements along k, which a warp of split_pieces reads, scales and checks.
//
// The check of "split_fp16" decides whether two pieces in fp16 are good enough for the data of this call. After
// scaling, the largest magnitude of a block is in [2^14, 2^15). The low piece is exact to 2^-25, because numbers in
// fp16 get no closer together than 2^-24. So an element of 2^-3 or more keeps 22 bits, and a smaller one, less than
// 2^-17 of the block's largest, is lossy.
#ifndef CK_MATMUL_SPLIT_BLOCKS_CUH
#define CK_MATMUL_SPLIT_BLOCKS_CUH

#include "split_operands.cuh"

namespace matmul {

// The elements of a block that a thread has, in fours. They are in lines lane / 8, lane / 8 + 4, and so on: in each
// line, the four from k = lane % 8 * 4 on, and the four that are 32 further.
enum { PIECES_FOURS = SPLIT_LINES * SPLIT_DEPTH / 32 / 4 };
__device__ __forceinline__ int own_line(int four) {
    return static_cast<int>(threadIdx.x) % 32 / 8 + four / 2 * 4;
}
__device__ __forceinline__ int own_k(int four) {
    return static_cast<int>(threadIdx.x) % 8 * 4 + four % 2 * 32;
}

typedef float block_values[SPLIT_LINES][SPLIT_DEPTH + 4]; // in shared memory

__device__ __forceinline__ float4 &four_of(block_values &values, int four) {
    return *reinterpret_cast<float4 *>(&values[own_line(four)][own_k(four)]);
}

// Reads a block of which so many lines and elements along k are inside the operand; the others are zeros. A warp
// reads along the contiguous axis, and then passes the elements through shared memory, unless they are contiguous
// along k and aligned.
__device__ __forceinline__ void read_block(float4 (&x)[PIECES_FOURS], block_values &values, const split_side &side,
                                           const float *data, int lines, int depth) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool whole = lines >= SPLIT_LINES && depth >= SPLIT_DEPTH;
    const auto fours_at = [](const float *at) { return *reinterpret_cast<const float4 *>(at); };
    if (side.aligned && whole && side.k_stride == 1) {
        const float *from = data + own_line(0) * side.line_stride + own_k(0);
#pragma unroll
        for (int four = 0; four < PIECES_FOURS; four += 2, from += 4 * side.line_stride)
            x[four] = fours_at(from), x[four + 1] = fours_at(from + 32);
        return;
    }
    if (side.aligned && whole) { // four lines, and k = lane / 4, 8 further, ...
        const float *from = data + lane % 4 * 4 + lane / 4 * side.k_stride;
#pragma unroll
        for (int i = 0; i < PIECES_FOURS; ++i, from += 8 * side.k_stride) x[i] = fours_at(from);
        float *to = &values[lane % 4 * 4][lane / 4];
#pragma unroll
        for (int i = 0; i < PIECES_FOURS; ++i, to += 8)
            to[0] = x[i].x, to[SPLIT_DEPTH + 4] = x[i].y, to[2 * (SPLIT_DEPTH + 4)] = x[i].z,
            to[3 * (SPLIT_DEPTH + 4)] = x[i].w;
    } else {
        constexpr int COUNT = SPLIT_LINES * SPLIT_DEPTH / 32;
        const bool along_k = side.k_stride == 1;
        const int line = along_k ? 0 : lane % SPLIT_LINES, k = along_k ? lane : lane / SPLIT_LINES;
        const int64_t step = along_k ? side.line_stride : 4 * side.k_stride, half = along_k ? 32 : 2 * side.k_stride;
        const float *from = data + line * side.line_stride + k * side.k_stride;
        float read[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i += 2, from += step)
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const bool inside =
                    along_k ? i / 2 < lines && lane + j * 32 < depth : line < lines && k + (i + j) * 2 < depth;
                read[i + j] = whole || inside ? from[j * half] : 0;
            }
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            *(along_k ? &values[i / 2][lane + i % 2 * 32] : &values[line][k + i * 2]) = read[i];
    }
    __syncwarp();
#pragma unroll
    for (int four = 0; four < PIECES_FOURS; ++four) x[four] = four_of(values, four);
    __syncwarp();
}

// 2^exponent for exponents from -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
    return __int_as_float((exponent + 127) << 23);
}

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

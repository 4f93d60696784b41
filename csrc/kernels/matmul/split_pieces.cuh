// The pieces of "split_fp16" and "split_bf16": numbers of 16 bits whose sum is a scaled float32.
//
//     fp16: x = high + low            11 + 11 bits and the sign of low; high = fp16(x), low = fp16(x - high)
//     bf16: x = high + middle + low   8 + 8 + 8 bits, in the same way
//
// Blocks of 16 lines by 64 elements along k have one scale each, a power of two, so that scaling rounds nothing. The
// largest magnitude of a block is scaled to [2^14, 2^15) for fp16, whose largest number is 65504, and to [2^50, 2^51) for
// bf16. Below 2^-14, fp16 has fewer bits, and below 2^-24 none. So low is exact to 2^-25, and an element of 2^-3 or more
// keeps 22 bits. A smaller one, less than 2^-17 of the block's largest, is lossy; the check says whether that matters.
// bf16 has the range of float32: from 2^-51 on, elements have all bits, and so have the products of two, which are 2^-102
// or more. If a block has smaller elements, its product is left to "warp_tiles".
#ifndef CK_MATMUL_SPLIT_PIECES_CUH
#define CK_MATMUL_SPLIT_PIECES_CUH

#include <limits.h>
#include <string.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device_extras.cuh"
#include "split_operands.cuh"

namespace matmul {

// TOP: the exponent of a block's largest magnitude after scaling by 2^-MOST to 2^MOST; LEAST: that of the smallest element that
// keeps its bits.
template <typename T> struct split_kind;
template <> struct split_kind<__half> {
    enum { PIECES = 2, TOP = 14, MOST = 59, LEAST = -3, CHOICE = SPLIT_IN_FP16 };
};
template <> struct split_kind<__nv_bfloat16> {
    enum { PIECES = 3, TOP = 50, MOST = 74, LEAST = -51, CHOICE = SPLIT_IN_BF16 };
};

enum { PIECES_THREADS = 256, PIECES_WARPS = PIECES_THREADS / 32, PIECES_LINES = PIECES_WARPS * SPLIT_LINES };

// What a thread does with its elements of a block: of lines lane / 8, 4 further, ...; the four from k = lane % 8 * 4 on, and
// the four that are 32 further.
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

// Reads a block of which so many lines and elements along k are inside the operand; the others are zeros. A warp reads along
// the contiguous axis, and then passes the elements through shared memory, unless they are contiguous along k and aligned.
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
                const bool inside = along_k ? i / 2 < lines && lane + j * 32 < depth : line < lines && k + (i + j) * 2 < depth;
                read[i + j] = whole || inside ? from[j * half] : 0;
            }
#pragma unroll
        for (int i = 0; i < COUNT; ++i) *(along_k ? &values[i / 2][lane + i % 2 * 32] : &values[line][k + i * 2]) = read[i];
    }
    __syncwarp();
#pragma unroll
    for (int four = 0; four < PIECES_FOURS; ++four) x[four] = four_of(values, four);
    __syncwarp();
}

// The check of a line in a block. Of its elements that are not 0, after scaling, `lossy` are less than 2^-3, `small` less than
// 2^2, `large` 2^2 or more, and `good` 2^10 or more. The errors of the lossy ones, up to 2^-25 each, add at most lossy 2^-10
// to an element of C, because no element of the other operand is larger than 2^15. That is 2^-22 |A||B| or less if `lossy`
// good elements meet one of 2^2 or more. They do if the line has 8 good ones for each lossy one, and the line of the other
// operand no more than 7 small ones and no zeros. (If it has zeros, these are assumed to leave enough of the good ones: a line
// is sparse if it has fewer than 8 large ones. That is no proof: zeros of A and B may avoid each other.)
template <typename T> struct line_counts {
    int lossy, small, large, good;

    __device__ __forceinline__ unsigned found() const {
        if (split_kind<T>::PIECES == 3) return lossy > 0 ? unsigned(FOUND_NOT_BF16) : 0;
        unsigned found = lossy > 0 ? unsigned(FOUND_LOSSY) : 0;
        if (small + large > 0 && large < 8) found |= FOUND_SPARSE;
        if (small > 7 || 8 * lossy > good) found |= FOUND_NOT_FP16;
        return found;
    }
};

// Of all lines of a block, of which eight threads have one. (These are functions, so that the rare path takes no registers.)
template <typename T> __device__ __noinline__ unsigned check_lines(block_values &values, float factor) {
    unsigned found = 0;
#pragma unroll 1
    for (int four = 0; four < PIECES_FOURS; four += 2) {
        unsigned counts = 0; // eight bits each
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float4 x = four_of(values, four + half);
            for (const float y : {x.x, x.y, x.z, x.w}) {
                const float size = fabsf(y * factor);
                counts += size >= 1024                                  ? 0x1010000
                          : size >= 4                                   ? 0x10000
                          : y == 0                                      ? 0
                          : size < power_of_two(split_kind<T>::LEAST) ? 0x101
                                                                        : 0x100;
            }
        }
#pragma unroll
        for (int lanes = 1; lanes < 8; lanes *= 2) counts += __shfl_xor_sync(0xffffffffu, counts, lanes);
        found |= line_counts<T>{static_cast<int>(counts & 255), static_cast<int>(counts >> 8 & 255),
                                static_cast<int>(counts >> 16 & 255), static_cast<int>(counts >> 24)}
                     .found();
    }
    return __reduce_or_sync(0xffffffffu, found);
}

// The same where k ends after a few elements: the slab before counts, too.
template <typename T>
__device__ __noinline__ unsigned check_last_lines(const float *data, int64_t line_stride, int64_t k_stride, int lines,
                                                  int depth, float factor) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int READS = SPLIT_DEPTH / 32 + 1; // of a line: the last one is in the block
    float x[SPLIT_LINES][READS];
#pragma unroll
    for (int line = 0; line < SPLIT_LINES; ++line)
#pragma unroll
        for (int i = 0; i < READS; ++i) {
            const int k = lane + i * 32 - SPLIT_DEPTH;
            x[line][i] = line < lines && k < depth ? data[line * line_stride + k * k_stride] : 0;
        }
    const auto count = [](bool which) { return __popc(__ballot_sync(0xffffffffu, which)); };
    unsigned found = 0;
#pragma unroll
    for (int line = 0; line < SPLIT_LINES; ++line) {
        line_counts<T> counts = {};
#pragma unroll
        for (int i = 0; i < READS; ++i) {
            const float y = x[line][i], size = fabsf(y * factor);
            counts.large += count(size >= 4), counts.good += count(size >= 1024);
            if (i == READS - 1)
                counts.small += count(y != 0 && size < 4),
                    counts.lossy += count(y != 0 && size < power_of_two(split_kind<T>::LEAST));
        }
        found |= counts.found();
    }
    return found;
}

// Writes the pieces and the scales of the operands. A warp has one block after another, and writes along k, eight bytes by
// each thread. blockIdx.y: A or B; blockIdx.z: the product. It does so only for products that are to be computed in this way.
template <typename T> __global__ void __launch_bounds__(PIECES_THREADS, 3) split_pieces(const split_operands op) {
    using kind = split_kind<T>;
    constexpr int PIECES = kind::PIECES;
    wait_for_grid_before();
    let_next_grid_begin();
    const int product = static_cast<int>(blockIdx.z);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    __shared__ block_values all_values[PIECES_WARPS];
    block_values &values = all_values[warp];
    const split_side side = side_of<PIECES>(op, static_cast<int>(blockIdx.y), product);
    const int slabs = split_slabs(op.k), blocks = split_blocks(side.lines);
    const int64_t piece_words = static_cast<int64_t>(side.lines) * op.pitch / 4; // of four elements
    const int64_t tiles = static_cast<int64_t>(slabs) * ((blocks + PIECES_WARPS - 1) / PIECES_WARPS);
    // (Other warps may be finding something, so one thread reads for its warp.)
    const unsigned found_before = __shfl_sync(0xffffffffu, lane == 0 ? op.found[product] : 0, 0);
    if (choice_of(found_before) != kind::CHOICE) return;
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int slab = static_cast<int>(tile % slabs), first_k = slab * SPLIT_DEPTH;
        const int block = static_cast<int>(tile / slabs) * PIECES_WARPS + warp, first_line = block * SPLIT_LINES;
        if (block >= blocks) continue;
        const int lines = side.lines - first_line;
        float4 x[PIECES_FOURS];
        const float *const data = side.data + first_line * side.line_stride + first_k * side.k_stride;
        read_block(x, values, side, data, lines, op.k - first_k);

        unsigned largest = 0; // the bits of a magnitude
#pragma unroll
        for (int four = 0; four < PIECES_FOURS; ++four)
            for (const float y : {x[four].x, x[four].y, x[four].z, x[four].w})
                largest = max(largest, __float_as_uint(y) & 0x7fffffffu);
        largest = __reduce_max_sync(0xffffffffu, largest);
        const int top = largest != 0 ? exponent_of(largest) : 0, best = kind::TOP - top;
        const int scale = best > kind::MOST ? kind::MOST : best < -kind::MOST ? -kind::MOST : best;
        const float factor = power_of_two(scale);

        // least: twice the bits, minus 1, so that zeros are larger than all others. Among the small ones, zeros are counted.
        unsigned least = UINT_MAX;
        int small = 0;
        const auto twice_bits = [](float y) { return __float_as_uint(y) * 2 - 1; };
        const unsigned bottom = twice_bits(power_of_two(kind::LEAST - scale));
        int64_t at = (first_line + own_line(0)) * (op.pitch / 4) + (first_k + own_k(0)) / 4;
#pragma unroll
        for (int four = 0; four < PIECES_FOURS; ++four) {
            const float own[4] = {x[four].x, x[four].y, x[four].z, x[four].w};
            T pieces[PIECES][4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                least = min(least, twice_bits(own[i]));
                float rest = own[i] * factor;
                if (PIECES == 2) small += fabsf(rest) < 4;
#pragma unroll
                for (int piece = 0; piece < PIECES; ++piece) {
                    pieces[piece][i] = number_cast<T>(rest);
                    if (piece + 1 < PIECES) rest -= number_cast<float>(pieces[piece][i]);
                }
            }
            if (own_line(four) < lines) {
#pragma unroll
                for (int piece = 0; piece < PIECES; ++piece) {
                    int2 words;
                    memcpy(&words, pieces[piece], sizeof words);
                    static_cast<int2 *>(side.pieces)[at + piece * piece_words + four % 2 * (32 / 4)] = words;
                }
            }
            if (four % 2 == 1) at += op.pitch; // four lines
        }
        unsigned found = 0;
        // With a smaller scale, fp16 would overflow, and sums of products might become denormal.
        if (largest >= 0x7f800000u || (PIECES == 2 && scale != best)) found = PIECES == 2 ? FOUND_NOT_FP16 : FOUND_NOT_BF16;
        const bool few_small = PIECES == 3 || __reduce_add_sync(0xffffffffu, static_cast<unsigned>(small)) <= 7;
        if (__any_sync(0xffffffffu, least < bottom) || !few_small) {
            const int depth = op.k - first_k;
            if (depth < SPLIT_DEPTH / 2 && slab > 0) {
                found |= check_last_lines<T>(data, side.line_stride, side.k_stride, lines, depth, factor);
            } else {
#pragma unroll
                for (int four = 0; four < PIECES_FOURS; ++four) four_of(values, four) = x[four];
                __syncwarp();
                found |= check_lines<T>(values, factor);
                __syncwarp();
            }
        }
        if (lane == 0) side.factors[static_cast<int64_t>(slab) * blocks + block] = power_of_two(-scale);
        if (found != 0 && lane == 0)
            atomicOr(&op.found[product], found <= 3 && blockIdx.y == 1 ? found << FOUND_B : found);
    }
}

} // namespace matmul

#endif

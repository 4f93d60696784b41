// The pieces of "split_fp16" and "split_bf16": numbers of 16 bits whose sum is a scaled float32.
//
//     fp16: x = high + low            11 + 11 bits and the sign of low; high = fp16(x), low = fp16(x - high)
//     bf16: x = high + middle + low   8 + 8 + 8 bits, in the same way
//
// Blocks of 16 lines by 64 elements along k have one scale each, a power of two, so that scaling rounds nothing. The
// largest magnitude of a block is scaled to [2^14, 2^15) for fp16, whose largest number is 65504, and to [2^55, 2^56)
// for bf16, unless that takes too large a power of two. In fp16, much smaller elements lose bits (split_blocks.cuh).
// bf16 has the range of float32: from 2^-51 on, elements have all bits, and so have the products of two, which are
// 2^-102 or more. If a block has smaller elements, less than 2^-106 of its largest, its product is left to
// "warp_tiles".
#ifndef CK_MATMUL_SPLIT_PIECES_CUH
#define CK_MATMUL_SPLIT_PIECES_CUH

#include <limits.h>
#include <string.h>

#include "device_extras.cuh"
#include "split_blocks.cuh"

namespace matmul {

enum { PIECES_THREADS = 256, PIECES_WARPS = PIECES_THREADS / 32, PIECES_BLOCKS = 3 }; // blocks of a multiprocessor

// The tiles of an operand in one slab: a tile is a block for each warp, one below the other.
__host__ __device__ __forceinline__ int pieces_tiles(int lines) {
    return (split_blocks(lines) + PIECES_WARPS - 1) / PIECES_WARPS;
}

// A or B of one product.
template <int PIECES>
__device__ __forceinline__ split_side side_of(const split_operands &op, int number, int product) {
    split_side side = op.side[number];
    const int64_t lines = static_cast<int64_t>(product) * split_padded(side.lines);
    side.factors += static_cast<int64_t>(product) * split_slabs(op.k) * split_blocks(side.lines);
    side.pieces = static_cast<unsigned short *>(side.pieces) + PIECES * lines * op.pitch;
    side.data += op.stack.offset(product, number);
    return side;
}

// The exponent of a finite magnitude from its bits: the e with 2^e <= x < 2^(e + 1).
__device__ __forceinline__ int exponent_of(unsigned bits) {
    return bits >> 23 != 0 ? static_cast<int>(bits >> 23) - 127 : 31 - __clz(static_cast<int>(bits)) - 149;
}

// The bits of the largest magnitude of a block.
__device__ __forceinline__ unsigned largest_of(const float4 (&x)[PIECES_FOURS]) {
    unsigned largest = 0;
#pragma unroll
    for (int four = 0; four < PIECES_FOURS; ++four)
        for (const float y : {x[four].x, x[four].y, x[four].z, x[four].w})
            largest = max(largest, __float_as_uint(y) & 0x7fffffffu);
    return __reduce_max_sync(0xffffffffu, largest);
}

// What a thread has seen in its elements of a block. `least`: twice the bits of the smallest, minus 1, so that zeros
// are larger than all others. `small`: how many are not fair, zeros among them.
struct seen_elements {
    unsigned least = UINT_MAX;
    int small = 0;

    static __device__ __forceinline__ unsigned twice_bits(float y) { return __float_as_uint(y) * 2 - 1; }
};

// Whether the lines of a block must be checked. With no more small elements than the first limit, each line has
// enough fair ones for the last limit, and none is lossy. (`small` includes the zeros outside.)
template <typename T>
__device__ __forceinline__ bool needs_check(const seen_elements &seen, int scale, int lines, int depth) {
    const unsigned bottom = seen.twice_bits(power_of_two(split_kind<T>::LEAST - scale));
    const bool lossy = __any_sync(0xffffffffu, seen.least < bottom);
    if (split_kind<T>::PIECES == 3) return lossy;
    const int places = min(depth, +SPLIT_DEPTH);
    const int outside = SPLIT_LINES * SPLIT_DEPTH - min(lines, +SPLIT_LINES) * places;
    const int all_small = static_cast<int>(__reduce_add_sync(0xffffffffu, static_cast<unsigned>(seen.small)));
    return lossy || depth < SPLIT_DEPTH / 2 || all_small - outside > limit_of(0, places);
}

// Writes the pieces of a thread's elements. `to`: where the first piece of the first four goes. In fours,
// `pitch` and `apart`: from four lines to the next four, and from piece to piece.
template <typename T>
__device__ __forceinline__ void write_pieces(const float4 (&x)[PIECES_FOURS], float factor, int2 *to, int64_t pitch,
                                             int64_t apart, seen_elements &seen) {
    constexpr int PIECES = split_kind<T>::PIECES;
#pragma unroll
    for (int four = 0; four < PIECES_FOURS; ++four) {
        const float own[4] = {x[four].x, x[four].y, x[four].z, x[four].w};
        T pieces[PIECES][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            seen.least = min(seen.least, seen.twice_bits(own[i]));
            float rest = own[i] * factor;
            if (PIECES == 2) seen.small += fabsf(rest) < SPLIT_FAIR;
#pragma unroll
            for (int piece = 0; piece < PIECES; ++piece) {
                pieces[piece][i] = static_cast<T>(rest);
                if (piece + 1 < PIECES) rest -= static_cast<float>(pieces[piece][i]);
            }
        }
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece) {
            int2 words;
            memcpy(&words, pieces[piece], sizeof words);
            to[piece * apart + four % 2 * (32 / 4)] = words;
        }
        if (four % 2 == 1) to += pitch;
    }
}

// Writes the pieces and the scales of the operands. A warp has one block after another, and writes along k, eight
// bytes by each thread. blockIdx.y: the product. Only for products that are to be computed in this way.
//
// The tiles of the last slab come first, those of A and then those of B: if the slab is short, their check takes as
// long as another tile (check_lines). All others follow, and the blocks of threads take them in the opposite order,
// so that those which began with the last slab are the last to get one more.
template <typename T>
__global__ void __launch_bounds__(PIECES_THREADS, PIECES_BLOCKS)
    split_pieces(const __grid_constant__ split_operands op) {
    using kind = split_kind<T>;
    constexpr int PIECES = kind::PIECES;
    wait_for_grid_before();
    let_next_grid_begin();
    const int product = static_cast<int>(blockIdx.y);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    __shared__ __align__(16) block_values all_values[PIECES_WARPS];
    block_values &values = all_values[warp];
    const int slabs = split_slabs(op.k), a_tiles = pieces_tiles(op.side[0].lines);
    const int in_slab = a_tiles + pieces_tiles(op.side[1].lines);
    const int tiles = in_slab * slabs; // (6 KB or more of the workspace each: 32 bits are enough)
    // What warps have found so far. (Volatile: others may be finding something.) All lanes agree whether that is too
    // much.
    const auto found_so_far = [&] { return *static_cast<const volatile unsigned *>(&op.findings[product]); };
    const auto decided = [](unsigned findings) {
        return __any_sync(0xffffffffu, choice_of(findings) != kind::CHOICE);
    };
    if (decided(found_so_far())) return;
    const int block_number = static_cast<int>(blockIdx.x), all_blocks = static_cast<int>(gridDim.x);
    for (int first = 0; first < tiles; first += all_blocks) {
        const int tile = first + (first == 0 ? block_number : all_blocks - 1 - block_number), later = tile - in_slab;
        if (tile >= tiles) break;
        const unsigned found_before = found_so_far(); // it is here when the block is
        const int slab = later < 0 ? slabs - 1 : later % (slabs - 1);
        const int group = later < 0 ? tile : later / (slabs - 1); // of blocks, one below the other
        const int number = group < a_tiles ? 0 : 1, first_k = slab * SPLIT_DEPTH;
        const split_side side = side_of<PIECES>(op, number, product);
        const int blocks = split_blocks(side.lines);
        const int block = (group - (number == 0 ? 0 : a_tiles)) * PIECES_WARPS + warp;
        const int first_line = block * SPLIT_LINES, lines = side.lines - first_line, depth = op.k - first_k;
        if (block >= blocks) continue;
        float4 x[PIECES_FOURS];
        const float *const data = side.data + first_line * side.line_stride + first_k * side.k_stride;
        read_block(x, values, side, data, lines, depth);
        if (decided(found_before)) return;

        const unsigned largest = largest_of(x);
        const int top = largest != 0 ? exponent_of(largest) : 0, best = kind::TOP - top;
        const int scale = best > kind::UP ? kind::UP : best < -kind::DOWN ? -kind::DOWN : best;
        const float factor = power_of_two(scale);
        if (lane == 0) side.factors[static_cast<int64_t>(slab) * blocks + block] = power_of_two(-scale);

        seen_elements seen;
        const int line = first_line + (number == 0 ? own_line(0) : split_place(own_line(0)));
        // Four lines further, in B four columns further, which is two places.
        const int64_t pitch = number == 0 ? op.pitch : op.pitch / 2;
        write_pieces<T>(x, factor,
                        static_cast<int2 *>(side.pieces) + line * (op.pitch / 4) + (first_k + own_k(0)) / 4, pitch,
                        static_cast<int64_t>(split_padded(side.lines)) * op.pitch / 4, seen);

        unsigned findings = 0;
        // Where the scale was limited, fp16 would overflow, or sums of products might become denormal.
        if (largest >= 0x7f800000u || (PIECES == 2 && scale != best))
            findings = PIECES == 2 ? FOUND_NOT_FP16 : FOUND_NOT_BF16;
        if (largest != 0 && needs_check<T>(seen, scale, lines, depth)) {
#pragma unroll
            for (int four = 0; four < PIECES_FOURS; ++four) four_of(values, four) = x[four];
            __syncwarp();
            const int places = min(depth, +SPLIT_DEPTH);
            findings |=
                depth < SPLIT_DEPTH / 2 && slab > 0
                    ? check_lines<T, true>(values, factor, places + SPLIT_DEPTH, data - SPLIT_DEPTH * side.k_stride,
                                           side.line_stride, side.k_stride, lines)
                    : check_lines<T, false>(values, factor, places);
            __syncwarp();
        }
        if (findings != 0 && lane == 0)
            atomicOr(&op.findings[product], findings <= FOUND_IN_ONE && number == 1 ? findings << FOUND_B : findings);
    }
}

} // namespace matmul

#endif

// Blocks of 16 lines by 64 elements along k, which a warp of split_pieces reads and scales: whose elements a thread
// has, and how they are read.
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

} // namespace matmul

#endif

// The pieces of "split_fp16" and "split_bf16": numbers of 16 bits whose sum is a scaled float32.
//
//     fp16: x = high + low            11 + 11 bits and the sign of low; high = fp16(x), low = fp16(x - high)
//     bf16: x = high + middle + low   8 + 8 + 8 bits, in the same way
//
// The largest element of a line is scaled to [2^14, 2^15) for fp16, whose largest number is 65504, and to [2^55, 2^56)
// for bf16. Below 2^-14, fp16 has fewer bits, and below 2^-24 none. So low is exact to 2^-25, and an element of 2^-3 or
// more keeps 22 bits. A smaller one, less than 2^-17 of the largest, is lossy. split_choose estimates from the other
// operand whether that matters. bf16 has the range of float32: from 2^-51 on, elements have all bits, and so have the
// products of two, which are 2^-102 or more. If a line has smaller elements, its product is left to "warp_tiles".
#ifndef CK_MATMUL_SPLIT_PIECES_CUH
#define CK_MATMUL_SPLIT_PIECES_CUH

#include <string.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device_extras.cuh"
#include "split_operands.cuh"

namespace matmul {

template <typename T> struct split_kind;
template <> struct split_kind<__half> {
    enum { PIECES = 2, TOP = 14, CHOICE = SPLIT_IN_FP16 };
};
template <> struct split_kind<__nv_bfloat16> {
    enum { PIECES = 3, TOP = 55, CHOICE = SPLIT_IN_BF16 };
};

enum { PIECES_THREADS = 256, PIECES_SIDE = 64 };
constexpr float LEAST_IN_BF16 = 0x1p-51f;

// Writes the pieces of tiles of 64 lines by 64 elements along k, which pass through shared memory: they are read along
// the contiguous axis, and written along k, 16 bytes by each thread. Also counts, for each line, what the check needs.
template <typename T> __global__ void __launch_bounds__(PIECES_THREADS, 4) split_pieces(const split_operands op) {
    wait_for_grid_before();
    let_next_grid_begin();
    enum { PIECES = split_kind<T>::PIECES, SIDE = PIECES_SIDE, WARPS = PIECES_THREADS / 32, CHECK = PIECES == 2 };
    const int product = static_cast<int>(blockIdx.z), choice = op.choice[product];
    if (choice != (CHECK ? SPLIT_OPEN : SPLIT_IN_BF16)) return;
    __shared__ float values[SIDE][SIDE + 1];
    __shared__ int balance[SIDE], exponent[SIDE];
    __shared__ unsigned counts[4][SIDE];
    const int number =
        1 - static_cast<int>(blockIdx.y); // B first, and from the end on: split_largest has just read that
    const split_side side = side_of<PIECES>(op, number, product);
    const int *const balances = op.balance + static_cast<int64_t>(product) * op.k;
    const int sign = number == 0 ? 1 : -1, t = threadIdx.x, warp = t / 32, lane = t % 32;
    const bool balanced = op.balanced[product];
    const split_reading order(side, op.k);
    const bool along_k = order.along_k;
    const int64_t across = (op.k + SIDE - 1) / SIDE, tiles = across * ((side.lines + SIDE - 1) / SIDE);
    bool too_small = false; // for bf16
    for (int64_t tile = tiles - 1 - blockIdx.x; tile >= 0; tile -= gridDim.x) {
        const int first_k = static_cast<int>(tile % across) * SIDE,
                  first_line = static_cast<int>(tile / across) * SIDE;
        float x[SIDE / WARPS][SIDE / 32];
        read_tile<WARPS>(x, side.data, order, along_k ? first_line : first_k, along_k ? first_k : first_line);
        if (t < SIDE) {
            balance[t] = first_k + t < op.k ? balances[first_k + t] : 0;
        } else if (t < 2 * SIDE) {
            const int line = t - SIDE;
            int e = 0;
            if (first_line + line < side.lines) {
                const unsigned top = side.top[first_line + line], largest = side.largest[first_line + line];
                if (balanced)
                    e = top != 0 ? static_cast<int>(top) - SPLIT_BIAS : 0;
                else
                    e = largest != 0 ? exponent_of(largest) : 0;
                if (first_k == 0) side.exponent[first_line + line] = e;
            }
            exponent[line] = e;
        }
#pragma unroll
        for (int i = 0; i < SIDE / WARPS; ++i)
#pragma unroll
            for (int j = 0; j < SIDE / 32; ++j)
                *(along_k ? &values[warp + i * WARPS][lane + j * 32] : &values[lane + j * 32][warp + i * WARPS]) =
                    x[i][j];
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < 2; ++i) {
            const int line = t / 8 + i * 32, k = t % 8 * 8, scale = split_kind<T>::TOP - exponent[line];
            T pieces[PIECES][8];
            unsigned counted = 0; // lossy, small and good elements, 8 bits each
            float sum = 0;        // of magnitudes
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                float rest = values[line][k + j];
                if (balanced)
                    rest = balance[k + j] == SPLIT_NO_PRODUCTS ? 0 : scaled(rest, scale + sign * balance[k + j]);
                else
                    rest = scaled(rest, scale);
                if (CHECK) {
                    const float magnitude = fabsf(rest);
                    counted += magnitude >= 1       ? 1 << 16
                               : magnitude == 0     ? 0
                               : magnitude < 0.125f ? (1 << 8) + 1
                                                    : 1 << 8;
                    sum += magnitude;
                } else if (fabsf(rest) < LEAST_IN_BF16 && values[line][k + j] != 0) {
                    too_small = too_small || !balanced || balance[k + j] != SPLIT_NO_PRODUCTS;
                }
#pragma unroll
                for (int piece = 0; piece < PIECES; ++piece) {
                    pieces[piece][j] = number_cast<T>(rest);
                    rest -= number_cast<float>(pieces[piece][j]);
                }
            }
            if (first_line + line < side.lines && first_k + k < op.pitch) {
#pragma unroll
                for (int piece = 0; piece < PIECES; ++piece) {
                    int4 eight;
                    memcpy(&eight, pieces[piece], sizeof eight);
                    const int64_t at = (static_cast<int64_t>(piece) * side.lines + first_line + line) * op.pitch;
                    *reinterpret_cast<int4 *>(static_cast<T *>(side.pieces) + at + first_k + k) = eight;
                }
            }
            if (CHECK) {
                unsigned mass = static_cast<unsigned>(sum) >> 8; // rounded down
#pragma unroll
                for (int lanes = 1; lanes < 8; lanes *= 2) { // the eight threads of the line
                    counted += __shfl_xor_sync(0xffffffffu, counted, lanes);
                    mass += __shfl_xor_sync(0xffffffffu, mass, lanes);
                }
                if (t % 8 == 0) {
                    counts[0][line] = counted & 255, counts[1][line] = counted >> 8 & 255;
                    counts[2][line] = counted >> 16, counts[3][line] = mass;
                }
            }
        }
        __syncthreads(); // all counts are complete, and the shared memory is free again
        if (CHECK) {
            const int line = first_line + t % SIDE;
            unsigned *const to = t < SIDE       ? side.lossy
                                 : t < 2 * SIDE ? side.small
                                 : t < 3 * SIDE ? side.good
                                                : side.mass;
            if (line < side.lines) atomicAdd(&to[line], counts[t / SIDE][t % SIDE]);
            __syncthreads();
        }
    }
    if (too_small) atomicExch(&op.choice[product], SPLIT_NOT);
}

} // namespace matmul

#endif

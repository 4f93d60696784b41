// The scales of "split_fp16" and "split_bf16": powers of two, so that scaling rounds nothing.
//
// Each line of an operand (a row of A, a column of B) is scaled so that its largest magnitude comes near the upper end
// of fp16's range. That is enough for most data. But if column 7 of A is a million times as large as the others, it
// determines the scale of every row, and the other columns lose digits, although row 7 of B may be so small that these
// columns matter. Therefore k is balanced first, if necessary: column i of A is multiplied by a power of two, and row i
// of B is divided by it, so that their largest magnitudes are similar.
#ifndef CK_MATMUL_SPLIT_SCALES_CUH
#define CK_MATMUL_SPLIT_SCALES_CUH

#include "device_extras.cuh"
#include "split_operands.cuh"

namespace matmul {

enum { SCALES_THREADS = 256, SCALES_OUTER = 64, SCALES_INNER = 128, BALANCE_THREADS = 1024 };

__global__ void split_clear(unsigned *words, int64_t count) {
    let_next_grid_begin();
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) words[i] = 0;
}

__device__ __forceinline__ unsigned largest_of_warp(unsigned x) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const unsigned other = __shfl_xor_sync(0xffffffffu, x, lanes);
        x = x > other ? x : other;
    }
    return x;
}

// Visits the tiles of an operand. In a tile, a warp reads one row of 128 elements after another, contiguous ones if the
// operand has any; every thread has the same four columns in each row. The result is the largest value(bits, k).
template <typename Value>
__device__ __forceinline__ void largest_of_tiles(const split_side &side, int k, unsigned *of_lines, unsigned *of_k,
                                                 const Value &value) {
    enum { WARPS = SCALES_THREADS / 32, ROWS = SCALES_OUTER / WARPS, COLUMNS = SCALES_INNER / 32 }; // of a thread
    __shared__ unsigned of_rows[SCALES_OUTER], of_columns[WARPS][SCALES_INNER];
    const split_reading order(side, k);
    unsigned *const to_rows = order.along_k ? of_lines : of_k, *const to_columns = order.along_k ? of_k : of_lines;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t across = (order.inner + SCALES_INNER - 1) / SCALES_INNER;
    const int64_t tiles = across * ((order.outer + SCALES_OUTER - 1) / SCALES_OUTER);
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int first_inner = static_cast<int>(tile % across) * SCALES_INNER;
        const int first_outer = static_cast<int>(tile / across) * SCALES_OUTER;
        float x[ROWS][COLUMNS];
        read_tile<WARPS>(x, side.data, order, first_outer, first_inner);
        unsigned column_largest[COLUMNS] = {}, own_row = 0;
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            unsigned row_largest = 0;
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                const int k_here = order.along_k ? first_inner + lane + j * 32 : first_outer + warp + i * WARPS;
                const unsigned bits = value(__float_as_uint(x[i][j]) & 0x7fffffffu, k_here);
                row_largest = row_largest > bits ? row_largest : bits;
                column_largest[j] = column_largest[j] > bits ? column_largest[j] : bits;
            }
            row_largest = largest_of_warp(row_largest);
            own_row = lane == i ? row_largest : own_row;
        }
        if (lane < ROWS) of_rows[warp + lane * WARPS] = own_row;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) of_columns[warp][lane + j * 32] = column_largest[j];
        __syncthreads();
        const int t = threadIdx.x;
        if (t < SCALES_INNER) {
            unsigned all = 0;
            for (int i = 0; i < WARPS; ++i) all = all > of_columns[i][t] ? all : of_columns[i][t];
            if (to_columns && first_inner + t < order.inner) atomicMax(&to_columns[first_inner + t], all);
        } else if (t < SCALES_INNER + SCALES_OUTER) {
            const int row = t - SCALES_INNER;
            if (to_rows && first_outer + row < order.outer) atomicMax(&to_rows[first_outer + row], of_rows[row]);
        }
        __syncthreads(); // the shared memory is free again
    }
}

// The largest magnitude of each line and of each k. blockIdx.y: A or B; blockIdx.z: the product, as in the kernels
// below.
__global__ void __launch_bounds__(SCALES_THREADS, 4) split_largest(const split_operands op) {
    wait_for_grid_before();
    let_next_grid_begin();
    const split_side side = side_of(op, blockIdx.y, blockIdx.z);
    largest_of_tiles(side, op.k, side.largest, side.largest_of_k, [](unsigned bits, int) { return bits; });
}

// The power of two nearest to the square root of (largest of row k of B / largest of column k of A), for each k. They
// are used only if they differ by more than a factor of 16: balancing costs one more pass over the operands. One block
// for each product, which also decides whether the elements are split at all.
__global__ void __launch_bounds__(BALANCE_THREADS) split_balance(const split_operands op, bool try_fp16) {
    wait_for_grid_before();
    let_next_grid_begin();
    __shared__ int least, most, infinite;
    const int product = static_cast<int>(blockIdx.z);
    const split_side a_side = side_of(op, 0, product), b_side = side_of(op, 1, product);
    int *const balances = op.balance + static_cast<int64_t>(product) * op.k;
    if (threadIdx.x == 0) least = SPLIT_BIAS, most = -SPLIT_BIAS, infinite = 0;
    __syncthreads();
    int own_least = SPLIT_BIAS, own_most = -SPLIT_BIAS, own_infinite = 0;
    for (int i = threadIdx.x; i < op.k; i += BALANCE_THREADS) {
        const unsigned a = a_side.largest_of_k[i], b = b_side.largest_of_k[i];
        own_infinite |= (a >= 0x7f800000u || b >= 0x7f800000u);
        int balance = SPLIT_NO_PRODUCTS;
        if (a != 0 && b != 0) {
            balance = (exponent_of(b) - exponent_of(a)) >> 1;
            own_least = balance < own_least ? balance : own_least;
            own_most = balance > own_most ? balance : own_most;
        }
        balances[i] = balance;
    }
    atomicMin(&least, own_least), atomicMax(&most, own_most), atomicOr(&infinite, own_infinite);
    __syncthreads();
    const bool balanced = most - least > 4;
    for (int i = threadIdx.x; i < op.k && !balanced; i += BALANCE_THREADS) balances[i] = 0;
    if (threadIdx.x == 0) {
        op.balanced[product] = balanced;
        op.choice[product] = infinite ? SPLIT_NOT : try_fp16 ? SPLIT_OPEN : SPLIT_IN_BF16;
    }
}

// The largest exponent of each line after balancing.
__global__ void __launch_bounds__(SCALES_THREADS, 4) split_tops(const split_operands op) {
    wait_for_grid_before();
    let_next_grid_begin();
    if (!op.balanced[blockIdx.z]) return;
    const split_side side = side_of(op, blockIdx.y, blockIdx.z);
    const int *const balances = op.balance + static_cast<int64_t>(blockIdx.z) * op.k;
    const int sign = blockIdx.y == 0 ? 1 : -1;
    largest_of_tiles(side, op.k, side.top, nullptr, [&](unsigned bits, int k) {
        const int balance = bits != 0 ? balances[k] : SPLIT_NO_PRODUCTS; // (zeros may be outside the operand)
        if (balance == SPLIT_NO_PRODUCTS) return 0u;
        return static_cast<unsigned>(exponent_of(bits) + sign * balance + SPLIT_BIAS);
    });
}

} // namespace matmul

#endif

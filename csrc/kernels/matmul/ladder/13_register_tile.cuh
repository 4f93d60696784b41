// matmul "register_tile": comes after "column_tile".
//
// Change  Each thread computes a square of 8 x 8 elements of C.
// Why     At each step along k, eight words of A and eight of B serve 64 multiply-adds.
// Claim   words loaded from shared memory per multiply-add: 1/8 + 1/8 (before: 1 + 1/8); words read from global
//         memory: 2*m*n*k/128 (before: /64)
// Gain    on an H200, m = n = k = 4096: 22.7 TFLOP/s (before: 15.9); docs/speed.md
// Price   64 registers for sums, and 16 for the words of the current step: with addresses, 128, so that a
//         multiprocessor holds two blocks of 256 threads
// Edges   as in "column_tile"
// Map     block: the tile of block_tile.cuh; thread t: rows t / 16 * 8 + 0 ... 7, columns t % 16 * 8 + 0 ... 7
// Limit   few threads hide the time that loads take, a load fetches one word, and the threads of a warp
//         read columns 8 words apart, so that four of them read the same bank
#ifndef CK_MATMUL_REGISTER_TILE_CUH
#define CK_MATMUL_REGISTER_TILE_CUH

#include "../parts/block_tile.cuh"
#include "../parts/operands.cuh"

namespace matmul {

struct register_tile_size {
    enum { SIDE = 128, DEPTH = 8, EDGE = 8, ACROSS = SIDE / EDGE, THREADS = ACROSS * ACROSS };
};

// Blocks per multiprocessor: the compiler keeps to the registers that two blocks of floats have (one of doubles).
template <typename T> constexpr int BLOCKS_OF = 8 / sizeof(T);

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(register_tile_size::THREADS, BLOCKS_OF<T>)
    register_tile(const operand_stack<T, PLAIN> stack) {
    constexpr int SIDE = register_tile_size::SIDE, DEPTH = register_tile_size::DEPTH, EDGE = register_tile_size::EDGE;
    constexpr int THREADS = register_tile_size::THREADS, ACROSS = register_tile_size::ACROSS;
    __shared__ number<T> a_tile[SIDE][DEPTH];
    __shared__ number<T> b_tile[DEPTH][SIDE];
    const auto [a, b, c, m, n, k] = stack.of_block();
    const auto [first_row, first_column] = tile_of_block<SIDE, SIDE>(m, n);
    const int t = threadIdx.x, tx = t % ACROSS * EDGE, ty = t / ACROSS * EDGE;
    const int a_x = t % DEPTH, a_y = t / DEPTH, b_x = t % SIDE, b_y = t / SIDE; // the first elements to load

    number<T> sum[EDGE][EDGE] = {};
    for (int64_t start = 0; start < k; start += DEPTH) {
        for (int y = a_y; y < SIDE; y += THREADS / DEPTH)
            a_tile[y][a_x] = first_row + y < m && start + a_x < k ? a.row(first_row + y)[start + a_x] : number<T>(0);
        for (int y = b_y; y < DEPTH; y += THREADS / SIDE)
            b_tile[y][b_x] =
                first_column + b_x < n && start + y < k ? b.column(first_column + b_x)[start + y] : number<T>(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            number<T> a_values[EDGE], b_values[EDGE];
#pragma unroll
            for (int e = 0; e < EDGE; ++e) a_values[e] = a_tile[ty + e][i], b_values[e] = b_tile[i][tx + e];
#pragma unroll
            for (int r = 0; r < EDGE; ++r)
#pragma unroll
                for (int e = 0; e < EDGE; ++e) sum[r][e] += a_values[r] * b_values[e];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < EDGE; ++r)
#pragma unroll
        for (int e = 0; e < EDGE; ++e) {
            const int64_t row = first_row + ty + r, column = first_column + tx + e;
            if (row < m && column < n) c.store(row, column, sum[r][e]);
        }
}

} // namespace matmul

#endif

// matmul "vectorized": comes after "register_tile".
//
// Change  Loads of 16 bytes. A's tile is transposed when it is stored to shared memory, so that the eight words of A
//         that a thread needs at a step lie side by side, as those of B do.
// Why     One instruction loads four words. A multiprocessor issues one instruction per cycle and scheduler, and
//         every load takes the place of 32 multiply-adds.
// Claim   loads from shared memory per 64 multiply-adds: 4 (before: 16); loads from global memory per thread and
//         tile: 2 (before: 8), if the rows of A and B start at multiples of 16 bytes
// Gain    on an H200, m = n = k = 4096: 39.0 TFLOP/s (before: 22.7); docs/speed.md
// Price   the transposed store writes four separate words
// Edges   VECTOR is false where a row does not start at a multiple of 16 bytes, or its length is not a multiple of
//         four: then global memory is read word by word. Elements outside the matrix are zero.
// Map     as in "register_tile", but a thread has two groups of four rows, 64 apart, and two of columns: eight
//         neighboring threads then read 128 neighboring bytes, which takes one pass over the banks
// Limit   the loads wait for memory, and all threads wait for the loads
#ifndef CK_MATMUL_VECTORIZED_CUH
#define CK_MATMUL_VECTORIZED_CUH

#include "../parts/block_tile.cuh"
#include "../parts/operands.cuh"
#include "../parts/register_sums.cuh"

namespace matmul {

struct vectorized_size {
    enum { SIDE = 128, DEPTH = 8, EDGE = 8, ACROSS = SIDE / EDGE, THREADS = ACROSS * ACROSS, HALF = SIDE / 2 };
};

// Four neighbors along a row, zeros from `inside` on.
template <bool VECTOR>
__device__ __forceinline__ float4 four_of_row(const float *row, int64_t stride, int64_t inside) {
    if (VECTOR) return inside > 0 ? *reinterpret_cast<const float4 *>(row) : float4{0, 0, 0, 0};
    return {inside > 0 ? row[0] : 0, inside > 1 ? row[stride] : 0, inside > 2 ? row[2 * stride] : 0,
            inside > 3 ? row[3 * stride] : 0};
}

template <bool VECTOR>
__global__ void __launch_bounds__(vectorized_size::THREADS, 2) vectorized(const operand_stack<float, false> stack) {
    constexpr int SIDE = vectorized_size::SIDE, DEPTH = vectorized_size::DEPTH, EDGE = vectorized_size::EDGE;
    constexpr int ACROSS = vectorized_size::ACROSS, HALF = vectorized_size::HALF;
    static_assert(SIDE * DEPTH == 4 * vectorized_size::THREADS, "each thread loads four elements of each tile");
    __shared__ __align__(16) float a_tile[DEPTH][SIDE]; // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[DEPTH][SIDE];
    const auto [a, b, c, m, n, k] = stack.of_block();
    const auto [first_row, first_column] = tile_of_block<SIDE, SIDE>(m, n);
    const int t = threadIdx.x, tx = t % ACROSS * 4, ty = t / ACROSS * 4;

    const int a_x = t % (DEPTH / 4) * 4, a_y = t / (DEPTH / 4), b_x = t % (SIDE / 4) * 4, b_y = t / (SIDE / 4);
    const float *a_from = a.data + (first_row + a_y) * a.row_stride + a_x * a.column_stride;
    const float *b_from = b.data + b_y * b.row_stride + (first_column + b_x) * b.column_stride;
    const bool a_inside = first_row + a_y < m;
    const int64_t b_inside = n - (first_column + b_x);

    float sum[EDGE][EDGE] = {};
    for (int64_t start = 0; start < k; start += DEPTH) {
        const float4 a_four = four_of_row<VECTOR>(a_from, a.column_stride, a_inside ? k - (start + a_x) : 0);
        const float4 b_four = four_of_row<VECTOR>(b_from, b.column_stride, start + b_y < k ? b_inside : 0);
        a_from += DEPTH * a.column_stride;
        b_from += DEPTH * b.row_stride;
        a_tile[a_x][a_y] = a_four.x, a_tile[a_x + 1][a_y] = a_four.y;
        a_tile[a_x + 2][a_y] = a_four.z, a_tile[a_x + 3][a_y] = a_four.w;
        *reinterpret_cast<float4 *>(&b_tile[b_y][b_x]) = b_four;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            float4 a_values[2], b_values[2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                a_values[half] = *reinterpret_cast<const float4 *>(&a_tile[i][ty + half * HALF]);
                b_values[half] = *reinterpret_cast<const float4 *>(&b_tile[i][tx + half * HALF]);
            }
            add_products(sum, a_values, b_values);
        }
        __syncthreads();
    }
    store_tile<false>(c, first_row + ty, HALF, first_column + tx, HALF, m, n, sum);
}

} // namespace matmul

#endif

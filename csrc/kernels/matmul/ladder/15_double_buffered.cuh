// matmul "double_buffered": comes after "vectorized".
//
// Change  Two buffers in shared memory: while the threads compute with one slab, asynchronous copies (cp.async) bring
//         the next one into the other buffer.
// Why     In "vectorized" a block first waits for global memory (about 600 cycles), then computes. Here the next slab
//         has arrived when the computation of the previous one ends.
// Claim   barriers per slab: 1 (before: 2); registers for data on its way from global to shared memory: 0 (before: 8)
// Gain    on an H200, m = n = k = 4096: 43.9 TFLOP/s (before: 39.0); docs/speed.md
// Price   twice the shared memory; compute capability 8.0
// Edges   Copies outside the matrix write zeros. Copies of 4 bytes take any alignment and any strides.
// Map     as in "vectorized"
// Limit   the words for a step along k are loaded when they are needed, and the multiply-adds wait for them
#ifndef CK_MATMUL_DOUBLE_BUFFERED_CUH
#define CK_MATMUL_DOUBLE_BUFFERED_CUH

#include "../parts/block_tile.cuh"
#include "../parts/operands.cuh"
#include "../parts/register_sums.cuh"
#include "../parts/slab_copies.cuh"

namespace matmul {

struct double_buffered_size {
    enum { SIDE = 128, DEPTH = 8, EDGE = 8, ACROSS = SIDE / EDGE, THREADS = ACROSS * ACROSS, HALF = SIDE / 2 };
};

template <bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(double_buffered_size::THREADS, 2)
    double_buffered(const operand_stack<float, false> stack) {
    constexpr int SIDE = double_buffered_size::SIDE, DEPTH = double_buffered_size::DEPTH;
    constexpr int EDGE = double_buffered_size::EDGE, ACROSS = double_buffered_size::ACROSS;
    constexpr int THREADS = double_buffered_size::THREADS, HALF = double_buffered_size::HALF;
    using a_copies = slab_copies<float, SIDE, DEPTH, THREADS, A_ALONG_K>;
    using b_copies = slab_copies<float, SIDE, DEPTH, THREADS, B_ALONG_K>;
    constexpr int PITCH = a_copies::PITCH;
    __shared__ __align__(16) float a_slab[2][a_copies::WORDS];
    __shared__ __align__(16) float b_slab[2][b_copies::WORDS];
    const auto [a, b, c, m, n, k] = stack.of_block();
    const auto [first_row, first_column] = tile_of_block<SIDE, SIDE>(m, n);
    const int t = threadIdx.x, tx = t % ACROSS * 4, ty = t / ACROSS * 4;
    a_copies from_a(a.data + first_row * a.row_stride, A_ALONG_K ? a.row_stride : a.column_stride, m - first_row);
    b_copies from_b(b.data + first_column * b.column_stride, B_ALONG_K ? b.column_stride : b.row_stride,
                    n - first_column);
    const auto begin = [&](int buffer, int64_t left) {
        from_a.template begin<true>(a_slab[buffer], left);
        from_b.template begin<true>(b_slab[buffer], left);
        cp_async_commit();
    };

    float sum[EDGE][EDGE] = {};
    if (k > 0) begin(0, k);
    int buffer = 0;
    for (int64_t start = 0; start < k; start += DEPTH, buffer ^= 1) {
        cp_async_wait<0>();
        __syncthreads(); // all copies of this slab have landed, and no thread reads the other buffer any more
        if (start + DEPTH < k) begin(buffer ^ 1, k - (start + DEPTH));
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            float4 a_values[2], b_values[2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                a_values[half] = *reinterpret_cast<const float4 *>(&a_slab[buffer][i * PITCH + ty + half * HALF]);
                b_values[half] = *reinterpret_cast<const float4 *>(&b_slab[buffer][i * PITCH + tx + half * HALF]);
            }
            add_products(sum, a_values, b_values);
        }
    }
    store_tile<false>(c, first_row + ty, HALF, first_column + tx, HALF, m, n, sum);
}

} // namespace matmul

#endif

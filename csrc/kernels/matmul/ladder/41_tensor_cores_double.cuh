// matmul "tensor_cores_double": comes after "warp_tiles".
//
// Change  Tensor cores for float64: one instruction (mma.sync) multiplies 16 x 4 by 4 x 8 doubles.
// Why     A multiprocessor of an H200 does 64 multiply-adds of doubles per cycle on its CUDA cores, and 128 on its
//         tensor cores.
// Claim   instructions per warp for 64 x 32 x 8 multiply-adds: 32 mma.sync and 24 loads (before: 512 and 192)
// Gain    on an H200, m = n = k = 4096: 53 TFLOP/s (cuBLAS 58); docs/speed.md
// Price   none: sums are rounded as by fma, in the order of k
// Edges   as in "warp_tiles": copies of single elements take any alignment and any strides
// Map     as in "tensor_cores". Slabs are stored as [k][extent], with rows 4 elements longer than the extent: lanes
//         (g, t) then read k = t and extent = g from different banks.
// Limit   the tensor cores
#ifndef CK_MATMUL_TENSOR_CORES_DOUBLE_CUH
#define CK_MATMUL_TENSOR_CORES_DOUBLE_CUH

#include "../parts/block_tile.cuh"
#include "device_extras.cuh"
#include "../parts/operands.cuh"
#include "../parts/slab_copies.cuh"
#include "tensor_core.cuh"

namespace matmul {

template <int ROWS_, int COLUMNS_, int DEPTH_, int WARP_ROWS_, int WARP_COLUMNS_, int STAGES_, int BLOCKS_, int STEP_>
struct [[gnu::visibility("default")]] tensor_cores_double_size {
    enum { ROWS = ROWS_, COLUMNS = COLUMNS_, DEPTH = DEPTH_, STAGES = STAGES_, BLOCKS = BLOCKS_, STEP = STEP_ };
    enum { WARP_ROWS = WARP_ROWS_, WARP_COLUMNS = WARP_COLUMNS_, WARPS_X = COLUMNS / WARP_COLUMNS };
    enum { THREADS = ROWS / WARP_ROWS * WARPS_X * 32 };
    enum { SHARED_BYTES = STAGES * DEPTH * (ROWS + 4 + COLUMNS + 4) * 8 };
};

using tensor_cores_double_large = tensor_cores_double_size<128, 128, 8, 64, 32, 4, 1, 4>;
using tensor_cores_double_small = tensor_cores_double_size<64, 64, 8, 32, 32, 4, 3, 4>;

template <typename Size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(Size::THREADS, Size::BLOCKS)
    tensor_cores_double(const operand_stack<double, false> stack) {
    constexpr int DEPTH = Size::DEPTH, STAGES = Size::STAGES, STEP = Size::STEP;
    static_assert(DEPTH / STEP % 2 == 0, "the first set of a slab is set 0");
    constexpr int TILES_Y = Size::WARP_ROWS / 16, TILES_X = Size::WARP_COLUMNS / 8; // of mma.sync, per warp
    using a_copies = slab_copies<double, Size::ROWS, DEPTH, Size::THREADS, A_ALONG_K>;
    using b_copies = slab_copies<double, Size::COLUMNS, DEPTH, Size::THREADS, B_ALONG_K>;
    DYNAMIC_SHARED(double, a_slabs);
    double *const b_slabs = a_slabs + STAGES * a_copies::WORDS;
    const auto [a, b, c, m, n, k] = stack.of_block();
    const auto [first_row, first_column] = tile_of_block<Size::ROWS, Size::COLUMNS>(m, n);
    a_copies from_a(a.data + first_row * a.row_stride, A_ALONG_K ? a.row_stride : a.column_stride, m - first_row);
    b_copies from_b(b.data + first_column * b.column_stride, B_ALONG_K ? b.column_stride : b.row_stride,
                    n - first_column);
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int warp_row = warp / Size::WARPS_X * Size::WARP_ROWS,
              warp_column = warp % Size::WARPS_X * Size::WARP_COLUMNS;

    const int64_t depth = k;
    const int slabs = static_cast<int>((depth + DEPTH - 1) / DEPTH);
    int next = 0, next_stage = 0;
    // Begins the copies of the next slab, if there is one. One more is filled with zeros: the loop reads ahead into
    // it.
    const auto begin_slab = [&] {
        if (next <= slabs) {
            const int64_t left = depth - static_cast<int64_t>(next) * DEPTH;
            from_a.template begin<true>(a_slabs + next_stage * a_copies::WORDS, left);
            from_b.template begin<true>(b_slabs + next_stage * b_copies::WORDS, left);
        }
        cp_async_commit(); // also an empty group: the waits count groups
        ++next;
        next_stage = next_stage + 1 == STAGES ? 0 : next_stage + 1;
    };

    // The operands of a step, in two sets: one is in use while the other is loaded.
    double a_values[2][TILES_Y][STEP / 2], b_values[2][TILES_X][STEP / 4];
    const auto load_step = [&](int stage, int i, int set) {
        const double *a_words = a_slabs + stage * a_copies::WORDS + warp_row + g + (i + t) * a_copies::PITCH;
        const double *b_words = b_slabs + stage * b_copies::WORDS + warp_column + g + (i + t) * b_copies::PITCH;
#pragma unroll
        for (int y = 0; y < TILES_Y; ++y)
#pragma unroll
            for (int j = 0; j < STEP / 2; ++j)
                a_values[set][y][j] = a_words[j / 2 * 4 * a_copies::PITCH + y * 16 + j % 2 * 8];
#pragma unroll
        for (int x = 0; x < TILES_X; ++x)
#pragma unroll
            for (int j = 0; j < STEP / 4; ++j) b_values[set][x][j] = b_words[j * 4 * b_copies::PITCH + x * 8];
    };
    const auto wait_for_slab = [] {
        cp_async_wait<STAGES - 2>();
        __syncthreads();
    };

    double sum[TILES_Y][TILES_X][4] = {};
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i) begin_slab();
    wait_for_slab();
    int stage = 0;
    if (slabs > 0) load_step(stage, 0, 0);
    for (int slab = 0; slab < slabs; ++slab) {
        begin_slab(); // into the slab that all threads have left: they passed the barrier after it
        const int following = stage + 1 == STAGES ? 0 : stage + 1;
#pragma unroll
        for (int i = 0; i < DEPTH; i += STEP) {
            const int set = i / STEP % 2;
            if (i + STEP < DEPTH) {
                load_step(stage, i + STEP, 1 - set);
            } else {
                wait_for_slab();
                load_step(following, 0, 1 - set);
            }
#pragma unroll // in this order: 58 TFLOP/s; y outside: 55
            for (int x = 0; x < TILES_X; ++x)
#pragma unroll
                for (int y = 0; y < TILES_Y; ++y)
                    mma_m16n8_double<STEP>(sum[y][x], a_values[set][y], b_values[set][x]);
        }
        stage = following;
    }

    const int64_t row = first_row + warp_row + g, column = first_column + warp_column + t * 2;
#pragma unroll
    for (int y = 0; y < TILES_Y; ++y)
#pragma unroll
        for (int x = 0; x < TILES_X; ++x) {
            store_pair(c, row + y * 16, column + x * 8, m, n, sum[y][x][0], sum[y][x][1]);
            store_pair(c, row + y * 16 + 8, column + x * 8, m, n, sum[y][x][2], sum[y][x][3]);
        }
}

} // namespace matmul

#endif

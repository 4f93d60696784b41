// matmul "tensor_cores": comes after "warp_tiles".
//
// Change  The tensor cores do the multiply-adds of a warp: one instruction (mma.sync) multiplies 16 x 16 by 16 x 8
//         elements of float16 or bfloat16 and adds to sums in float32. Another (ldmatrix) loads four matrices of 8 x
//         8 elements from shared memory, each lane getting the elements that mma.sync expects there.
// Why     "warp_tiles" issues one instruction per 32 multiply-adds. mma.sync does 2048.
// Claim   instructions per warp for 64 x 64 x 16 multiply-adds: 32 mma.sync and 8 ldmatrix (before: 2048 and 256
//         loads)
// Gain    on an H200, m = n = k = 4096: 398 TFLOP/s in float16 (cuBLAS 760); docs/speed.md
// Price   Tensor cores truncate sums instead of rounding them (tensor_core.cuh). Rows or columns of the operands must
//         start at multiples of 16 bytes: otherwise the operand is copied first.
// Edges   cp.async writes zeros for elements outside the matrix, also within a piece of 16 bytes
// Map     block: the tile of block_tile.cuh; warp w: tile (w / WARPS_X, w % WARPS_X) of the block; elements of a
//         lane: tensor_core.cuh
// Limit   On Hopper mma.sync reaches about 60% of the tensor cores' rate: the registers and the warps that feed them
//         are too slow.
#ifndef CK_MATMUL_TENSOR_CORES_CUH
#define CK_MATMUL_TENSOR_CORES_CUH

#include "../parts/block_tile.cuh"
#include "device_extras.cuh"
#include "../parts/half_slabs.cuh"
#include "../parts/operands.cuh"

namespace matmul {

template <int ROWS_, int COLUMNS_, int WARP_ROWS_, int WARP_COLUMNS_, int DEPTH_, int STAGES_, int BLOCKS_>
struct [[gnu::visibility("default")]] tensor_cores_size {
    enum { ROWS = ROWS_, COLUMNS = COLUMNS_, DEPTH = DEPTH_, STAGES = STAGES_, BLOCKS = BLOCKS_ };
    enum { WARP_ROWS = WARP_ROWS_, WARP_COLUMNS = WARP_COLUMNS_, WARPS_X = COLUMNS / WARP_COLUMNS };
    enum { THREADS = ROWS / WARP_ROWS * WARPS_X * 32 };
    enum { SHARED_BYTES = STAGES * DEPTH * (ROWS + COLUMNS) * 2 };
};

using tensor_cores_large = tensor_cores_size<128, 256, 64, 64, 64, 3, 1>;
using tensor_cores_small = tensor_cores_size<64, 64, 32, 32, 64, 3, 4>;

// Where the elements of C that a thread has in registers are in its block's tile: sum[y][x][0] and [1] are neighbors
// of a row, and [2] and [3] those eight rows below; sum[y][x] is y * 16 rows and x * 8 columns further.
template <typename Size> struct fragment_place {
    int warp_row, warp_column, row, column;

    __device__ __forceinline__ fragment_place() {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        warp_row = warp / Size::WARPS_X * Size::WARP_ROWS, warp_column = warp % Size::WARPS_X * Size::WARP_COLUMNS;
        row = warp_row + lane / 4, column = warp_column + lane % 4 * 2;
    }
};

// Adds the products of a tile to the sums.
template <typename T, typename Size, bool A_ALONG_K, bool B_ALONG_K>
__device__ __forceinline__ void add_fragments(float (&sum)[Size::WARP_ROWS / 16][Size::WARP_COLUMNS / 8][4],
                                              unsigned char *a_slabs, const operands<T, false> &op,
                                              const tile_origin &first, const fragment_place<Size> &place) {
    constexpr int DEPTH = Size::DEPTH, STAGES = Size::STAGES;
    constexpr int TILES_Y = Size::WARP_ROWS / 16, TILES_X = Size::WARP_COLUMNS / 8; // of mma.sync, per warp
    using a_slab = half_slab<Size::ROWS, DEPTH, A_ALONG_K>;
    using b_slab = half_slab<Size::COLUMNS, DEPTH, B_ALONG_K>;
    unsigned char *const b_slabs = a_slabs + STAGES * a_slab::BYTES;
    half_slab_copies<a_slab, Size::THREADS> from_a(op.a.data + first.row * op.a.row_stride, op.a.row_stride,
                                                   op.a.column_stride, op.m - first.row);
    half_slab_copies<b_slab, Size::THREADS> from_b(op.b.data + first.column * op.b.column_stride, op.b.column_stride,
                                                   op.b.row_stride, op.n - first.column);

    const int64_t depth = op.k;
    const int slabs = static_cast<int>((depth + DEPTH - 1) / DEPTH);
    int next = 0, next_stage = 0;
    const auto begin_slab = [&] { // begins the copies of the next slab, if there is one
        if (next < slabs) {
            const int64_t left = depth - static_cast<int64_t>(next) * DEPTH;
            from_a.begin(a_slabs + next_stage * a_slab::BYTES, left);
            from_b.begin(b_slabs + next_stage * b_slab::BYTES, left);
        }
        cp_async_commit(); // also an empty group: the waits count groups
        ++next;
        next_stage = next_stage + 1 == STAGES ? 0 : next_stage + 1;
    };

    // The fragments of a step, in two sets: one is in use while the other is loaded.
    unsigned a_fragments[2][TILES_Y][4], b_fragments[2][TILES_X / 2][4];
    const auto load_step = [&](int stage, int i, int set) {
#pragma unroll
        for (int y = 0; y < TILES_Y; ++y)
            load_fragment<a_slab, false>(a_fragments[set][y], a_slabs + stage * a_slab::BYTES,
                                         place.warp_row + y * 16, i);
#pragma unroll
        for (int x = 0; x < TILES_X / 2; ++x)
            load_fragment<b_slab, true>(b_fragments[set][x], b_slabs + stage * b_slab::BYTES,
                                        place.warp_column + x * 16, i);
    };
    const auto wait_for_slab = [] {
        cp_async_wait<STAGES - 2>();
        __syncthreads();
    };

#pragma unroll 1
    for (int i = 0; i < STAGES - 1; ++i) begin_slab();
    wait_for_slab();
    int stage = 0;
    if (slabs > 0) load_step(stage, 0, 0);
    for (int slab = 0; slab < slabs; ++slab) {
        begin_slab(); // into the slab that all threads have left: they passed the barrier after it
        // After the last slab it is the same one: its values are not used, but there must be some.
        const int following = slab + 1 == slabs ? stage : stage + 1 == STAGES ? 0 : stage + 1;
#pragma unroll
        for (int i = 0; i < DEPTH; i += 16) {
            const int set = i / 16 % 2;
            if (i + 16 < DEPTH) {
                load_step(stage, i + 16, 1 - set);
            } else {
                wait_for_slab();
                load_step(following, 0, 1 - set);
            }
#pragma unroll
            for (int y = 0; y < TILES_Y; ++y)
#pragma unroll
                for (int x = 0; x < TILES_X; ++x) {
                    const unsigned *four = b_fragments[set][x / 2];
                    const unsigned two[2] = {four[x % 2 * 2], four[x % 2 * 2 + 1]};
                    mma_m16n8k16<T>(sum[y][x], a_fragments[set][y], two);
                }
        }
        stage = following;
    }
}

template <typename T, typename Size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(Size::THREADS, Size::BLOCKS) tensor_cores(const operand_stack<T, false> stack) {
    DYNAMIC_SHARED(unsigned char, slabs);
    const operands<T, false> op = stack.of_block();
    const tile_origin first = tile_of_block<Size::ROWS, Size::COLUMNS>(op.m, op.n);
    const fragment_place<Size> place;
    float sum[Size::WARP_ROWS / 16][Size::WARP_COLUMNS / 8][4] = {};
    add_fragments<T, Size, A_ALONG_K, B_ALONG_K>(sum, slabs, op, first, place);
    const int64_t row = first.row + place.row, column = first.column + place.column;
#pragma unroll
    for (int y = 0; y < Size::WARP_ROWS / 16; ++y)
#pragma unroll
        for (int x = 0; x < Size::WARP_COLUMNS / 8; ++x) {
            store_pair(op.c, row + y * 16, column + x * 8, op.m, op.n, sum[y][x][0], sum[y][x][1]);
            store_pair(op.c, row + y * 16 + 8, column + x * 8, op.m, op.n, sum[y][x][2], sum[y][x][3]);
        }
}

} // namespace matmul

#endif

// matmul "warp_tiles": comes after "double_buffered".
//
// Change  Each warp computes a tile of its own, of 32 x 64 elements, and its lanes are arranged so that a load of 16
//         bytes takes as few passes as possible. There are three slabs in shared memory instead of two (four of small
//         tiles), and the words for a step are loaded one step ahead, also across slabs.
// Why     In "double_buffered" a warp covers 16 x 128 elements: at each step it needs 144 words for 2048
//         multiply-adds. A tile of 32 x 64 needs 96. The hardware merges the two halves of a warp's load where lanes
//         i and i ^ 1, or i and i ^ 2, read the same address. The arrangement below achieves this for both A and B.
// Claim   distinct words loaded from shared memory per multiply-add of a warp: 96/2048 (before: 144/2048)
// Gain    on an H200, m = n = k = 4096: 47.9 TFLOP/s (before: 43.9; cuBLAS 51.3); docs/speed.md
// Price   a second set of registers for the next step's words: nearly all of the 128 registers that a thread can have
// Edges   as in "double_buffered"; small tiles that are all inside the matrix have a loop of their own, whose copies
//         check nothing
// Map     block: the tile of block_tile.cuh; warp w: tile (w / WARPS_X, w % WARPS_X) of the block. Lane bits 4 3 2 1
//         0 are y1 x2 x1 x0 y0 for a warp tile of 4 x 8 lanes (x1 y2 y1 y0 x0 for 8 x 4). A lane has groups of four
//         rows and columns.
// Limit   the rate at which a multiprocessor issues instructions: a multiply-add is one, and a load takes the place
//         of one
#ifndef CK_MATMUL_WARP_TILES_CUH
#define CK_MATMUL_WARP_TILES_CUH

#include "../parts/block_tile.cuh"
#include "device_extras.cuh"
#include "../parts/operands.cuh"
#include "../parts/register_sums.cuh"
#include "../parts/slab_copies.cuh"

namespace matmul {

// The sizes of a block's tile, of a warp's, and of a thread's; slabs of DEPTH, STAGES of them; blocks per
// multiprocessor.
template <int ROWS_, int COLUMNS_, int DEPTH_, int WARP_ROWS_, int WARP_COLUMNS_, int THREAD_ROWS_,
          int THREAD_COLUMNS_, int STAGES_, int BLOCKS_>
struct [[gnu::visibility("default")]] warp_tiles_size {
    enum { ROWS = ROWS_, COLUMNS = COLUMNS_, DEPTH = DEPTH_, STAGES = STAGES_, BLOCKS = BLOCKS_ };
    enum { WARP_ROWS = WARP_ROWS_, WARP_COLUMNS = WARP_COLUMNS_, WARPS_X = COLUMNS / WARP_COLUMNS };
    enum { THREAD_ROWS = THREAD_ROWS_, THREAD_COLUMNS = THREAD_COLUMNS_ };
    enum { LANES_Y = WARP_ROWS / THREAD_ROWS, LANES_X = WARP_COLUMNS / THREAD_COLUMNS };
    enum { THREADS = ROWS / WARP_ROWS * WARPS_X * 32 };
    enum { SHARED_BYTES = STAGES * DEPTH * (ROWS + 4 + COLUMNS + 4) * 4 };
    static_assert(LANES_Y * LANES_X == 32 && (LANES_Y == 4 || LANES_Y == 8), "4 x 8 or 8 x 4 lanes");
};

// Large tiles load least; small ones give work to all multiprocessors where C is small.
using warp_tiles_large = warp_tiles_size<128, 128, 8, 32, 64, 8, 8, 3, 2>;
using warp_tiles_small = warp_tiles_size<64, 64, 8, 32, 32, 8, 4, 4, 5>;

// The place of a thread's first group of rows and of columns in the tile of its block.
template <typename Size> struct warp_place {
    int ty, tx;

    __device__ __forceinline__ warp_place() {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int two_bits = (lane & 1) | (lane >> 3 & 2), three_bits = lane >> 1 & 7;
        ty = warp / Size::WARPS_X * Size::WARP_ROWS + (Size::LANES_Y == 4 ? two_bits : three_bits) * 4;
        tx = warp % Size::WARPS_X * Size::WARP_COLUMNS + (Size::LANES_X == 4 ? two_bits : three_bits) * 4;
    }
};

// Adds the products of a thread's elements over k elements, the slabs of which `from_a` and `from_b` copy.
template <typename Size, typename ACopies, typename BCopies>
__device__ __forceinline__ void add_slabs(float (&sum)[Size::THREAD_ROWS][Size::THREAD_COLUMNS], float *shared,
                                          ACopies from_a, BCopies from_b, int64_t k, const warp_place<Size> &place) {
    constexpr int DEPTH = Size::DEPTH, STAGES = Size::STAGES, LANES_Y = Size::LANES_Y, LANES_X = Size::LANES_X;
    float *const a_slabs = shared, *const b_slabs = shared + STAGES * ACopies::WORDS;
    const int ty = place.ty, tx = place.tx;

    // Begins the copies of the next slab, if there is one. Only the last one may need checks along k. One more is
    // filled with zeros: the loop below reads ahead into it.
    const int whole = static_cast<int>(k / DEPTH), rest = static_cast<int>(k % DEPTH), slabs = whole + (rest > 0);
    int next = 0, next_stage = 0;
    const auto begin_slab = [&] {
        float *a_slab = a_slabs + next_stage * ACopies::WORDS, *b_slab = b_slabs + next_stage * BCopies::WORDS;
        if (next < whole) {
            from_a.template begin<false>(a_slab, DEPTH);
            from_b.template begin<false>(b_slab, DEPTH);
        } else if (next <= slabs) {
            from_a.template begin<true>(a_slab, next == whole ? rest : 0);
            from_b.template begin<true>(b_slab, next == whole ? rest : 0);
        }
        cp_async_commit(); // also an empty group: the waits count groups
        ++next;
        next_stage = next_stage + 1 == STAGES ? 0 : next_stage + 1;
    };

    // The words of a step, in two sets: one is in use while the other is loaded.
    float4 a_values[2][Size::THREAD_ROWS / 4], b_values[2][Size::THREAD_COLUMNS / 4];
    const auto load_step = [&](int stage, int i, int set) {
        const float *a_words = a_slabs + stage * ACopies::WORDS + i * ACopies::PITCH + ty;
        const float *b_words = b_slabs + stage * BCopies::WORDS + i * BCopies::PITCH + tx;
#pragma unroll
        for (int group = 0; group < Size::THREAD_ROWS / 4; ++group)
            a_values[set][group] = *reinterpret_cast<const float4 *>(a_words + group * LANES_Y * 4);
#pragma unroll
        for (int group = 0; group < Size::THREAD_COLUMNS / 4; ++group)
            b_values[set][group] = *reinterpret_cast<const float4 *>(b_words + group * LANES_X * 4);
    };
    const auto wait_for_slab = [] {
        cp_async_wait<STAGES - 2>();
        __syncthreads();
    };

#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i) begin_slab();
    wait_for_slab();
    int stage = 0;
    if (slabs > 0) load_step(stage, 0, 0);
#pragma unroll 2 // the compiler then chooses better registers: 47.5 TFLOP/s, otherwise 46
    for (int slab = 0; slab < slabs; ++slab) {
        begin_slab(); // into the slab that all threads have left: they passed the barrier after it
        const int following = stage + 1 == STAGES ? 0 : stage + 1;
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            if (i + 1 < DEPTH) {
                load_step(stage, i + 1, (i + 1) % 2);
            } else {
                wait_for_slab();
                load_step(following, 0, 0);
            }
            add_products(sum, a_values[i % 2], b_values[i % 2]);
        }
        stage = following;
    }
}

// The same, from the first elements of the operands on.
template <typename Size, bool A_ALONG_K, bool B_ALONG_K>
__device__ __forceinline__ void add_warp_tile(float (&sum)[Size::THREAD_ROWS][Size::THREAD_COLUMNS], float *shared,
                                              const operands<float, false> &op, const tile_origin &first,
                                              const warp_place<Size> &place) {
    const float *const a_from = op.a.data + first.row * op.a.row_stride;
    const float *const b_from = op.b.data + first.column * op.b.column_stride;
    const int64_t a_stride = A_ALONG_K ? op.a.row_stride : op.a.column_stride, a_extent = op.m - first.row,
                  b_stride = B_ALONG_K ? op.b.column_stride : op.b.row_stride, b_extent = op.n - first.column;
    const auto add = [&](auto a_copies, auto b_copies) { add_slabs(sum, shared, a_copies, b_copies, op.k, place); };
    if constexpr (Size::ROWS ==
                  64) { // (Large tiles copy less for each multiply-add: a second loop would be no faster.)
        using whole_a = whole_slab_copies<float, Size::ROWS, Size::DEPTH, Size::THREADS, A_ALONG_K>;
        using whole_b = whole_slab_copies<float, Size::COLUMNS, Size::DEPTH, Size::THREADS, B_ALONG_K>;
        if (whole_a::can(a_from, a_stride, a_extent) && whole_b::can(b_from, b_stride, b_extent))
            return add(whole_a(a_from, a_stride, a_extent), whole_b(b_from, b_stride, b_extent));
    }
    add(slab_copies<float, Size::ROWS, Size::DEPTH, Size::THREADS, A_ALONG_K>(a_from, a_stride, a_extent),
        slab_copies<float, Size::COLUMNS, Size::DEPTH, Size::THREADS, B_ALONG_K>(b_from, b_stride, b_extent));
}

template <typename Size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(Size::THREADS, Size::BLOCKS)
    warp_tiles(const operand_stack<float, false> stack, const unsigned *findings, unsigned bit) {
    wait_for_grid_before(); // as a step of another variant, which decides on the device
    if (findings && (findings[blockIdx.z] & bit) == 0) return;
    DYNAMIC_SHARED(float, slabs);
    const operands<float, false> op = stack.of_block();
    const tile_origin first = tile_of_block<Size::ROWS, Size::COLUMNS>(op.m, op.n);
    const warp_place<Size> place;
    float sum[Size::THREAD_ROWS][Size::THREAD_COLUMNS] = {};
    add_warp_tile<Size, A_ALONG_K, B_ALONG_K>(sum, slabs, op, first, place);
    store_tile<true>(op.c, first.row + place.ty, Size::LANES_Y * 4, first.column + place.tx, Size::LANES_X * 4, op.m,
                     op.n, sum);
}

} // namespace matmul

#endif

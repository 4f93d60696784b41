// matmul "tensor_cores_double": comes after "warp_tiles".
//
// Change  Tensor cores for float64: one instruction (mma.sync) multiplies 16 x 8 by 8 x 8 doubles. Where C has fewer
//         tiles than there are multiprocessors, the blocks of clusters, and groups of clusters, divide k, as in
//         "warp_tiles_split_k".
// Why     A multiprocessor of an H200 does 64 multiply-adds of doubles per cycle on its CUDA cores, and 128 on its
//         tensor cores.
// Claim   instructions per warp for 32 x 32 x 8 multiply-adds: 8 mma.sync and 16 loads (before: 256 and 128)
// Gain    on an H200, m = n = k = 4096: 53 to 57 TFLOP/s (cuBLAS 57); 1024: 49 (before blocks were small and steps
//         along k long, 37; cuBLAS 49); 16 x 4096 x 4096: 47 us (where blocks do not divide k, 147; cuBLAS 48)
// Price   none: sums are rounded as by fma, in the order of k, and those of the parts of k are added to each other
// Edges   pairs of doubles are copied at once, or one by one where lines do not begin at multiples of 16 bytes
// Map     cluster c: group c % groups of tile c / groups; block r of it: part group * parts + r of k. Warps of a
//         block: as in "tensor_cores". A C of few columns is computed as C^T, whose tiles have few rows.
// Limit   the tensor cores
#ifndef CK_MATMUL_TENSOR_CORES_DOUBLE_CUH
#define CK_MATMUL_TENSOR_CORES_DOUBLE_CUH

#include "../parts/block_tile.cuh"
#include "../parts/double_slabs.cuh"
#include "../parts/group_sums.cuh"
#include "../parts/residue_findings.cuh"
#include "device_extras.cuh"
#include "tensor_core.cuh"

namespace matmul {

template <int ROWS_, int WARP_COLUMNS_, int BLOCKS_> struct [[gnu::visibility("default")]] tensor_cores_double_size {
    enum { ROWS = ROWS_, COLUMNS = 64, DEPTH = 16, STEP = 8, STAGES = 4, BLOCKS = BLOCKS_ };
    enum { WARP_ROWS = 32, WARP_COLUMNS = WARP_COLUMNS_, WARPS_X = COLUMNS / WARP_COLUMNS };
    enum { THREADS = ROWS / WARP_ROWS * WARPS_X * 32 };
    enum { SHARED_BYTES = STAGES * (ROWS + COLUMNS) * (DEPTH + 4) * 8 }; // lines along k take the most room
    static_assert(ROWS * COLUMNS * 8 <= SHARED_BYTES, "the sums of a cluster's blocks take the place of the slabs");
};

using tensor_cores_double_square = tensor_cores_double_size<64, 32, 2>;
using tensor_cores_double_flat = tensor_cores_double_size<32, 16, 3>; // for few rows, and for small products

// `unless`: as a step of "residues_int8", where that is not good enough.
template <typename Size, bool A_ALONG_K, bool B_ALONG_K, bool PAIRS>
__global__ void __launch_bounds__(Size::THREADS, Size::BLOCKS)
    tensor_cores_double(const operand_stack<double, false> stack, const partial_sums<double> sums_of_groups,
                        const residue_findings *unless) {
    if (unless && unless->are_good()) return;
    constexpr int DEPTH = Size::DEPTH, STAGES = Size::STAGES, STEP = Size::STEP;
    static_assert(DEPTH / STEP % 2 == 0, "the first set of a slab is set 0");
    constexpr int TILES_Y = Size::WARP_ROWS / 16, TILES_X = Size::WARP_COLUMNS / 8; // of mma.sync, per warp
    using a_copies = double_slab_copies<Size::ROWS, DEPTH, Size::THREADS, A_ALONG_K, PAIRS>;
    using b_copies = double_slab_copies<Size::COLUMNS, DEPTH, Size::THREADS, B_ALONG_K, PAIRS>;
    DYNAMIC_SHARED(double, a_slabs);
    double *const b_slabs = a_slabs + STAGES * a_copies::WORDS;
    operands<double, false> op = stack.of_block();
    let_next_grid_begin(); // add_groups, which waits
    const cluster_part part(sums_of_groups.groups);
    const tile_origin first = tile_of_block<Size::ROWS, Size::COLUMNS>(op.m, op.n, part.tile);
    part.take(op, DEPTH);
    a_copies from_a(op.a.data + first.row * op.a.row_stride, A_ALONG_K ? op.a.row_stride : op.a.column_stride,
                    op.m - first.row);
    b_copies from_b(op.b.data + first.column * op.b.column_stride, B_ALONG_K ? op.b.column_stride : op.b.row_stride,
                    op.n - first.column);
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int warp_row = warp / Size::WARPS_X * Size::WARP_ROWS,
              warp_column = warp % Size::WARPS_X * Size::WARP_COLUMNS;

    const int64_t depth = op.k;
    const int slabs = static_cast<int>((depth + DEPTH - 1) / DEPTH);
    int next = 0, next_stage = 0;
    // Begins the copies of the next slab, if there is one. One more is filled with zeros: the loop reads ahead into
    // it.
    const auto begin_slab = [&] {
        if (next <= slabs) {
            const int64_t left = depth - static_cast<int64_t>(next) * DEPTH;
            from_a.begin(a_slabs + next_stage * a_copies::WORDS, left);
            from_b.begin(b_slabs + next_stage * b_copies::WORDS, left);
        }
        cp_async_commit(); // also an empty group: the waits count groups
        ++next;
        next_stage = next_stage + 1 == STAGES ? 0 : next_stage + 1;
    };

    // The operands of a step, in two sets: one is in use while the other is loaded.
    double a_values[2][TILES_Y][STEP / 2], b_values[2][TILES_X][STEP / 4];
    const auto load_step = [&](int stage, int i, int set) {
        const double *a_words = a_slabs + stage * a_copies::WORDS + a_copies::at(warp_row + g, i + t);
        const double *b_words = b_slabs + stage * b_copies::WORDS + b_copies::at(warp_column + g, i + t);
#pragma unroll
        for (int y = 0; y < TILES_Y; ++y)
#pragma unroll
            for (int j = 0; j < STEP / 2; ++j)
                a_values[set][y][j] = a_words[a_copies::at(y * 16 + j % 2 * 8, j / 2 * 4)];
#pragma unroll
        for (int x = 0; x < TILES_X; ++x)
#pragma unroll
            for (int j = 0; j < STEP / 4; ++j) b_values[set][x][j] = b_words[b_copies::at(x * 8, j * 4)];
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
#pragma unroll
            for (int x = 0; x < TILES_X; ++x)
#pragma unroll
                for (int y = 0; y < TILES_Y; ++y)
                    mma_m16n8_double<STEP>(sum[y][x], a_values[set][y], b_values[set][x]);
        }
        stage = following;
    }

    const int row = warp_row + g, column = warp_column + t * 2; // of the first sum, in the tile
    const auto each_pair = [&](auto store) {
#pragma unroll
        for (int y = 0; y < TILES_Y; ++y)
#pragma unroll
            for (int x = 0; x < TILES_X; ++x)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    store(row + y * 16 + half * 8, column + x * 8, sum[y][x][half * 2], sum[y][x][half * 2 + 1]);
    };
    const output_matrix<double, false> to = sums_of_groups.target(op, part.group, part.groups);
    if (part.count == 1) {
        each_pair([&](int y, int x, double one, double two) {
            store_pair(to, first.row + y, first.column + x, op.m, op.n, one, two);
        });
        return;
    }
    cp_async_wait<0>();
    __syncthreads(); // all warps have read the slabs, and no copy is under way
    each_pair([&](int y, int x, double one, double two) {
        *reinterpret_cast<double2 *>(a_slabs + y * Size::COLUMNS + x) = make_double2(one, two);
    });
    add_parts_of_cluster<Size::ROWS, Size::COLUMNS, Size::THREADS>(
        a_slabs, part.rank, part.count, static_cast<int>(threadIdx.x), to, first, op.m, op.n);
}

} // namespace matmul

#endif

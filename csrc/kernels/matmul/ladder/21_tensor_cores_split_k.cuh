// matmul "tensor_cores_split_k": comes after "tensor_cores".
//
// Change  Tiles of 64 x 64 or 32 x 32. The blocks of a cluster compute one together, as in "warp_tiles_split_k": each
//         takes a part of k, and they add their sums through distributed shared memory. Where k is very long, several
//         clusters (groups) share a tile. Operands may have any alignment: lines come to shared memory as they lie in
//         global memory, with what is around them in aligned pieces of 16 bytes (half_lines.cuh).
// Why     Where C is small, there are fewer tiles than multiprocessors. And to copy an operand first, so that its
//         rows are aligned, takes a launch, which is as long as a small product.
// Claim   launches for m = 77, n = 263, k = 73 in C order: 1 (before: 3)
// Gain    on an H200, in float16: 883 x 77 x 68: 6.0 us (cuBLAS 5.9, "wgmma_persistent" 14.5); 300 x 500 x 333:
//         9.0 us (10.9, 15.4)
// Price   ldmatrix needs aligned rows, so fragments are read element by element. The sums of a tile go through shared
//         memory once, and the cluster waits for its slowest block. Groups cost a second launch.
// Edges   Elements outside the matrices are zeros in shared memory. A block whose part of k is empty adds zeros.
// Map     cluster c: group c % groups of tile c / groups; block r of it: part group * parts + r of k, and then some
//         rows of the tile. blockIdx.z: the product. Warps as in "tensor_cores"
// Limit   the start of a kernel, where C is small; the reads of fragments, where k is long
#ifndef CK_MATMUL_TENSOR_CORES_SPLIT_K_CUH
#define CK_MATMUL_TENSOR_CORES_SPLIT_K_CUH

#include "../parts/group_sums.cuh"
#include "../parts/half_lines.cuh"
#include "20_tensor_cores.cuh"

namespace matmul {

// Four warps share a tile, of 2 x 2 tiles.
// BLOCKS: so many have room in the shared memory of a multiprocessor.
template <int SIDE, int STAGES_, int BLOCKS_> struct [[gnu::visibility("default")]] any_lines_size {
    enum { ROWS = SIDE, COLUMNS = SIDE, DEPTH = 64, STAGES = STAGES_, BLOCKS = BLOCKS_ };
    enum { WARP_ROWS = SIDE / 2, WARP_COLUMNS = SIDE / 2, WARPS_X = 2, THREADS = 128 };
    enum { SLAB_BYTES = half_lines<SIDE, DEPTH, false>::BYTES, SHARED_BYTES = STAGES * 2 * SLAB_BYTES };
    enum { SUMS_PITCH = COLUMNS + 8 }; // so that the sums of a warp go to different banks
    static_assert(int{half_lines<SIDE, DEPTH, true>::BYTES} <= SLAB_BYTES, "either direction");
    static_assert(ROWS * SUMS_PITCH * 4 <= SHARED_BYTES, "the sums take the place of the slabs");
};
using any_lines_large = any_lines_size<64, 4, 3>;
using any_lines_small = any_lines_size<32, 4, 5>;

// Adds the products of a tile to the sums.
template <typename T, typename Size, bool A_ALONG_K, bool B_ALONG_K>
__device__ __forceinline__ void add_any_lines(float (&sum)[Size::WARP_ROWS / 16][Size::WARP_COLUMNS / 8][4],
                                              unsigned char *slabs, const operands<T, false> &op,
                                              const tile_origin &first, const fragment_place<Size> &place) {
    constexpr int DEPTH = Size::DEPTH, STAGES = Size::STAGES, SLAB = Size::SLAB_BYTES;
    constexpr int TILES_Y = Size::WARP_ROWS / 16, TILES_X = Size::WARP_COLUMNS / 8; // of mma.sync, per warp
    using a_lines = half_lines<Size::ROWS, DEPTH, A_ALONG_K>;
    using b_lines = half_lines<Size::COLUMNS, DEPTH, B_ALONG_K>;
    const T *const a = op.a.data + first.row * op.a.row_stride;
    const T *const b = op.b.data + first.column * op.b.column_stride;
    half_line_copies<a_lines, Size::THREADS> from_a(a, op.a.row_stride, op.a.column_stride, op.m - first.row);
    half_line_copies<b_lines, Size::THREADS> from_b(b, op.b.column_stride, op.b.row_stride, op.n - first.column);
    const half_line_pairs<a_lines> a_pairs(a, op.a.row_stride, op.a.column_stride, place.warp_row);
    const half_line_pairs<b_lines> b_pairs(b, op.b.column_stride, op.b.row_stride, place.warp_column);

    // The copies are STAGES - 1 slabs ahead: the first rounds only begin them.
    int to_stage = 0, stage = 1; // of the slab whose copies begin, and of that which is added
    for (int64_t left = op.k + (STAGES - 1) * DEPTH; left > 0; left -= DEPTH) { // of k, from the latter slab on
        const int64_t ahead = left - (STAGES - 1) * DEPTH;                      // from the former on
        if (left <= op.k) {
            cp_async_wait<STAGES - 2>();
            __syncthreads(); // the slab is here, and all threads have left the one before
        }
        if (ahead > 0) {
            const int depth = static_cast<int>(ahead < DEPTH ? ahead : DEPTH);
            from_a.begin(slabs + to_stage * 2 * SLAB, depth);
            from_b.begin(slabs + to_stage * 2 * SLAB + SLAB, depth);
        }
        cp_async_commit(); // also an empty group: the waits count groups
        const unsigned char *const a_slab = slabs + stage * 2 * SLAB, *const b_slab = a_slab + SLAB;
        to_stage = to_stage + 1 == STAGES ? 0 : to_stage + 1;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        if (left > op.k) continue;

        // The fragments of a step, in two sets: one is in use while the other is loaded.
        unsigned a_fragments[2][TILES_Y][4], b_fragments[2][TILES_X][2];
        const auto load_step = [&](int k, int set) {
#pragma unroll
            for (int y = 0; y < TILES_Y; ++y)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    a_fragments[set][y][i] = a_pairs.load(a_slab, y * 16 + i % 2 * 8, k + i / 2 * 8);
#pragma unroll
            for (int x = 0; x < TILES_X; ++x)
#pragma unroll
                for (int i = 0; i < 2; ++i) b_fragments[set][x][i] = b_pairs.load(b_slab, x * 8, k + i * 8);
        };
        load_step(0, 0);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            const int set = k / 16 % 2;
            if (k + 16 < DEPTH) load_step(k + 16, 1 - set);
#pragma unroll
            for (int y = 0; y < TILES_Y; ++y)
#pragma unroll
                for (int x = 0; x < TILES_X; ++x)
                    mma_m16n8k16<T>(sum[y][x], a_fragments[set][y], b_fragments[set][x]);
            if (left <= k + 16) break;
        }
    }
}

// Writes a tile of sums to C, in pairs that are aligned there. Where a row begins in the middle of a pair, one lane
// takes its first and its last element.
template <typename Size, typename T>
__device__ __forceinline__ void store_rows(const float *sums, const output_matrix<T, false> &c,
                                           const tile_origin &first, int64_t m, int64_t n) {
    constexpr int PAIRS = Size::COLUMNS / 2, STEP = Size::THREADS / PAIRS; // pairs of a row, rows at the same time
    static_assert(STEP % 2 == 0, "a thread's pairs are aligned alike");
    const int thread = static_cast<int>(threadIdx.x), row = thread / PAIRS;
    const int64_t columns = n - first.column, end = m - first.row;
    T *to = c.data + (first.row + row) * c.row_stride + first.column * c.column_stride;
    const int right = thread % PAIRS * 2 + (reinterpret_cast<uintptr_t>(to) % 4 == 0);
    const int left = right > 0 ? right - 1 : Size::COLUMNS - 1;
    const bool pair = left < right && right < columns && c.column_stride == 1;
    const float *from = sums + row * Size::SUMS_PITCH;
#pragma unroll 4
    for (int i = row; i < Size::ROWS; i += STEP, to += STEP * c.row_stride, from += STEP * Size::SUMS_PITCH) {
        if (i >= end) break;
        struct alignas(4) two {
            T left, right;
        } const values = {static_cast<T>(from[left]), static_cast<T>(from[right])};
        if (pair) {
            *reinterpret_cast<two *>(to + left) = values;
        } else {
            if (left < columns) to[left * c.column_stride] = values.left;
            if (right < columns) to[right * c.column_stride] = values.right;
        }
    }
}

template <typename T, typename Size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(Size::THREADS, Size::BLOCKS)
    tensor_cores_split_k(const operand_stack<T, false> stack, const group_sums sums_of_groups) {
    DYNAMIC_SHARED(unsigned char, slabs);
    operands<T, false> op = stack.of_block();
    let_next_grid_begin(); // add_groups, which waits
    const cluster_part part(sums_of_groups.groups);
    const tile_origin first = tile_of_block<Size::ROWS, Size::COLUMNS>(op.m, op.n, part.tile);
    const fragment_place<Size> place;
    part.take(op, Size::DEPTH);
    float sum[Size::WARP_ROWS / 16][Size::WARP_COLUMNS / 8][4] = {};
    add_any_lines<T, Size, A_ALONG_K, B_ALONG_K>(sum, slabs, op, first, place);

    __syncthreads();                                      // all warps have read the slabs
    float *const sums = reinterpret_cast<float *>(slabs); // a row of the tile after another
#pragma unroll
    for (int y = 0; y < Size::WARP_ROWS / 16; ++y)
#pragma unroll
        for (int x = 0; x < Size::WARP_COLUMNS / 8; ++x)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                *reinterpret_cast<float2 *>(sums + (place.row + y * 16 + half * 8) * Size::SUMS_PITCH + place.column +
                                            x * 8) = make_float2(sum[y][x][half * 2], sum[y][x][half * 2 + 1]);
    const auto add_parts = [&](const auto &c) {
        add_parts_of_cluster<Size::ROWS, Size::COLUMNS, Size::THREADS, Size::SUMS_PITCH>(
            sums, part.rank, part.count, static_cast<int>(threadIdx.x), c, first, op.m, op.n);
    };
    if (part.groups > 1) {
        add_parts(sums_of_groups.matrix(static_cast<int>(op.m), static_cast<int>(op.n), part.group,
                                        static_cast<int>(gridDim.z), static_cast<int>(blockIdx.z)));
    } else if (part.count > 1) {
        add_parts(op.c);
    } else {
        __syncthreads();
        store_rows<Size>(sums, op.c, first, op.m, op.n);
    }
}

} // namespace matmul

#endif

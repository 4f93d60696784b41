// Tiles of "split_inside": their sizes, the products of the pieces in one slab, and how sums are stored.
#ifndef CK_MATMUL_SPLIT_INSIDE_TILES_CUH
#define CK_MATMUL_SPLIT_INSIDE_TILES_CUH

#include "group_sums.cuh"
#include "split_inside_copies.cuh"
#include "wgmma.cuh"

namespace matmul {

// SPLITTERS: threads; a warpgroup of them splits SPLIT_WIDTH columns. WIDTH: the columns of an instruction of wgmma.
// A slab has TIMES sums of products: those of STEPS steps of 16 elements along k and of one of PARTS parts of the
// columns.
template <int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] split_inside_size {
    enum { PIECES = 3, ROWS = 128, COLUMNS = COLUMNS_, STAGES = STAGES_, CONSUMERS = ROWS / 64 };
    enum { WIDTH = COLUMNS < 64 ? COLUMNS : 64, PARTS = COLUMNS / WIDTH };
    enum { SPLIT_WIDTH = COLUMNS == 128 ? 64 : 32, SPLITTERS = COLUMNS / SPLIT_WIDTH * 128 };
    enum { SPLITTER_REGISTERS = 64, CONSUMER_REGISTERS = 192, TWO_SUMS = PARTS == 1 };
    enum { STEPS = TWO_SUMS ? +SPLIT_STEPS : SPLIT_STEPS / 2, TIMES = PARTS * SPLIT_STEPS / STEPS };
    enum { THREADS = SPLITTERS + CONSUMERS * 128 };
    static_assert(SPLITTERS * SPLITTER_REGISTERS + CONSUMERS * 128 * CONSUMER_REGISTERS <=
                      65536 / THREADS / 8 * 8 * THREADS,
                  "no more than the block has: otherwise it waits for ever");
    enum { GROUP_SLABS = 8 };                // whose sums are added before they are added to those of others
    enum { PREFETCH = COLUMNS <= 64 };       // with few columns, rows come from memory
    enum { B_BYTES = COLUMNS * SLAB_BYTES }; // of one piece
    enum { STAGE_BYTES = PIECES * B_BYTES, SUMS_BYTES = ROWS * COLUMNS * 4 };
    enum { SHARED_BYTES = 1024 + STAGES * STAGE_BYTES + SUMS_BYTES };
    static_assert(ROWS * COLUMNS * 4 <= STAGES * STAGE_BYTES, "the sums take the place of the pieces");
};
using split_inside_128 = split_inside_size<128, 3>;
using split_inside_64 = split_inside_size<64, 4>;
using split_inside_32 = split_inside_size<32, 6>;

// Begins the six products of 64 rows, whose pieces are in registers, and WIDTH columns: of STEPS steps of 16 elements
// along k from `first` on, the smallest products first. `last` gets the last half along k of high * high: the tensor
// cores would cut off most where it was added to the rest. (Without TWO_SUMS, for which there are not always enough
// registers, STEPS is half a slab.)
template <typename size>
__device__ __forceinline__ void multiply_split(float (&sum)[size::WIDTH / 2], float (&last)[size::WIDTH / 2],
                                               const unsigned (&a)[3][SPLIT_STEPS][4], const unsigned char *b,
                                               int first) {
    bool add = false;
    wgmma_fence();
#pragma unroll
    for (int order = size::PIECES - 1; order >= 0; --order) // piece i by piece j, i + j = order
#pragma unroll
        for (int i = 0; i <= order; ++i)
#pragma unroll
            for (int step = first; step < first + size::STEPS; ++step) {
                const bool to_last = size::TWO_SUMS && order == 0 && step >= SPLIT_STEPS / 2;
                if (to_last && step == SPLIT_STEPS / 2) add = false;
                wgmma<__nv_bfloat16, size::WIDTH, false>(
                    to_last ? last : sum, a[i][step],
                    wgmma_descriptor(b + (order - i) * size::B_BYTES + step * 32, 0), add);
                add = true;
            }
    wgmma_commit();
}

// The sums of a thread in float64, one element after another, for a tile that cannot be split. The thread has two
// neighboring rows, and of every eight columns two. Rows and columns outside the matrices are the last ones again:
// their sums are not stored.
template <int COUNT>
__device__ __noinline__ void multiply_plainly(float (&total)[COUNT], const operands<float, false> &op, int64_t row,
                                              int64_t column) {
    const auto at_most = [](int64_t i, int64_t count) { return i < count ? i : count - 1; };
    const auto above = op.a.row(at_most(row, op.m)), below = op.a.row(at_most(row + 1, op.m));
    enum { SOME = 16 }; // sums at once
    static_assert(COUNT % SOME == 0, "all sums");
#pragma unroll 1
    for (int first = 0; first < COUNT; first += SOME) {
        double sum[SOME] = {};
#pragma unroll 1
        for (int64_t k = 0; k < op.k; ++k) {
            const double a[2] = {above[k], below[k]};
#pragma unroll
            for (int i = 0; i < SOME; ++i) { // (the products are exact)
                const auto b = op.b.column(at_most(column + (first + i) / 4 * 8 + i % 2, op.n));
                sum[i] += a[i / 2 % 2] * static_cast<double>(b[k]);
            }
        }
#pragma unroll
        for (int i = 0; i < SOME; ++i) total[first + i] = static_cast<float>(sum[i]);
    }
}

// Stores the sums of a tile, or adds those of all blocks of the cluster first, through `sums` in shared memory. Of
// every eight columns, a thread has two of each of its two rows: four sums. If columns of C are contiguous, C^T is
// written.
template <int ROWS, int COLUMNS, int THREADS>
__device__ __forceinline__ void
store_split_sums(const float (&total)[COLUMNS / 2], int row, int column, int thread, float *sums, int rank, int parts,
                 const output_matrix<float, false> &c, const tile_origin &first, int64_t c_rows, int64_t c_columns) {
    const bool turned = c.row_stride == 1 && c.column_stride != 1;
    const output_matrix<float, false> to = turned ? output_matrix<float, false>{c.data, c.column_stride, 1} : c;
    const tile_origin origin = turned ? tile_origin{first.column, first.row} : first;
    const int64_t m = turned ? c_columns : c_rows, n = turned ? c_rows : c_columns;
    const int pitch = turned ? ROWS : COLUMNS; // of `sums`: a row of what is written after another
#pragma unroll
    for (int i = 0; i < COLUMNS / 8; ++i) {
        const float *const four = &total[i * 4];
        const int at = column + i * 8, y = turned ? at : row, x = turned ? row : at;
        const float2 above = make_float2(four[0], turned ? four[2] : four[1]);
        const float2 below = make_float2(turned ? four[1] : four[2], four[3]);
        if (parts == 1) {
            store_pair(to, origin.row + y, origin.column + x, m, n, above.x, above.y);
            store_pair(to, origin.row + y + 1, origin.column + x, m, n, below.x, below.y);
        } else {
            *reinterpret_cast<float2 *>(sums + y * pitch + x) = above;
            *reinterpret_cast<float2 *>(sums + (y + 1) * pitch + x) = below;
        }
    }
    if (parts == 1) return;
    if (turned)
        add_parts_of_cluster<COLUMNS, ROWS, THREADS>(sums, rank, parts, thread, to, origin, m, n);
    else
        add_parts_of_cluster<ROWS, COLUMNS, THREADS>(sums, rank, parts, thread, to, origin, m, n);
}

} // namespace matmul

#endif

// How the threads of "split_inside" store their sums.
#ifndef CK_MATMUL_SPLIT_INSIDE_SUMS_CUH
#define CK_MATMUL_SPLIT_INSIDE_SUMS_CUH

#include "add_groups.cuh"

namespace matmul {

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

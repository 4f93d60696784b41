// For variants that divide k among the blocks of clusters and, where it is very long, among groups of blocks: how the
// blocks of a cluster add their sums, and the sums of the groups, which add_groups.cuh adds.
#ifndef CK_MATMUL_GROUP_SUMS_CUH
#define CK_MATMUL_GROUP_SUMS_CUH

#include "block_tile.cuh"
#include "cluster.cuh"
#include "operands.cuh"

namespace matmul {

// The sums of the groups: matrices like C, one after another, for each group.
struct group_sums {
    float *data;
    int groups; // 1: results go to C at once
    // The groups compute C^T. The matrices are stored as C would be, so that add_groups writes rows of C.
    bool transposed;

    __device__ __forceinline__ output_matrix<float, false> matrix(int m, int n, int group, int products,
                                                                  int number) const {
        float *const first = data + (static_cast<int64_t>(group) * products + number) * m * n;
        return transposed ? output_matrix<float, false>{first, 1, m} : output_matrix<float, false>{first, n, 1};
    }

    // Where a block of that group, one of so many, stores its product's sums; blockIdx.z is the number of the
    // product.
    __device__ __forceinline__ output_matrix<float, false> target(const operands<float, false> &op, int group,
                                                                  int count) const {
        return count == 1 ? op.c
                          : matrix(static_cast<int>(op.m), static_cast<int>(op.n), group, static_cast<int>(gridDim.z),
                                   static_cast<int>(blockIdx.z));
    }
};

enum { MOST_PARTS = 8 }; // blocks of a cluster

// Adds the sums of a cluster's blocks. In each block, THREADS threads take part: they have written the block's sums
// of the tile to `sums` in its shared memory, one row of the tile after another. Each block adds and stores its part
// of the rows. Every other thread of the cluster must call cluster_sync() and cluster_end().
template <int ROWS, int COLUMNS, int THREADS, typename T>
__device__ __forceinline__ void add_parts_of_cluster(float *sums, int rank, int parts, int thread,
                                                     const output_matrix<T, false> &to, const tile_origin &first,
                                                     int64_t m, int64_t n) {
    constexpr int FOURS = COLUMNS / 4; // in a row of the tile
    cluster_sync();                    // all sums are there
    for (int i = rank * (ROWS / parts) * FOURS + thread; i < (rank + 1) * (ROWS / parts) * FOURS; i += THREADS) {
        const int64_t row = first.row + i / FOURS, column = first.column + i % FOURS * 4;
        if (row >= m) break;
        if (column >= n) continue; // all that is read is used, so that it is here when the block ends
        float4 part[MOST_PARTS], total = make_float4(0, 0, 0, 0);
#pragma unroll
        for (int other = 0; other < MOST_PARTS; ++other) // all loads at once
            if (other < parts) part[other] = reinterpret_cast<const float4 *>(map_shared(sums, other))[i];
#pragma unroll
        for (int other = 0; other < MOST_PARTS; ++other)
            if (other < parts)
                total.x += part[other].x, total.y += part[other].y, total.z += part[other].z,
                    total.w += part[other].w;
        store_pair(to, row, column, m, n, total.x, total.y);
        store_pair(to, row, column + 2, m, n, total.z, total.w);
    }
    cluster_end(); // no block ends while others may still read its sums
}

} // namespace matmul

#endif

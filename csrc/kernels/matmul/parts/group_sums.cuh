// For variants that divide k among the blocks of clusters and, where it is very long, among groups of blocks: how the
// blocks of a cluster add their sums, and the sums of the groups, which add_groups.cuh adds.
#ifndef CK_MATMUL_GROUP_SUMS_CUH
#define CK_MATMUL_GROUP_SUMS_CUH

#include "block_tile.cuh"
#include "cluster.cuh"
#include "operands.cuh"

namespace matmul {

// The sums of the groups: matrices like C, one after another, for each group.
template <typename Sum> struct partial_sums {
    Sum *data;
    int groups; // 1: results go to C at once
    // The groups compute C^T. The matrices are stored as C would be, so that add_groups writes rows of C.
    bool transposed;

    __device__ __forceinline__ output_matrix<Sum, false> matrix(int m, int n, int group, int products,
                                                                int number) const {
        Sum *const first = data + (static_cast<int64_t>(group) * products + number) * m * n;
        return transposed ? output_matrix<Sum, false>{first, 1, m} : output_matrix<Sum, false>{first, n, 1};
    }

    // Where a block of that group, one of so many, stores its product's sums; blockIdx.z is the number of the
    // product.
    __device__ __forceinline__ output_matrix<Sum, false> target(const operands<Sum, false> &op, int group,
                                                                int count) const {
        return count == 1 ? op.c
                          : matrix(static_cast<int>(op.m), static_cast<int>(op.n), group, static_cast<int>(gridDim.z),
                                   static_cast<int>(blockIdx.z));
    }
};
using group_sums = partial_sums<float>;

// What this block of a cluster computes: cluster c has group c % groups of tile c / groups, and its block r part
// group * count + r of k.
struct cluster_part {
    int count, rank, groups, group; // blocks of a cluster, and this one; groups of clusters, and this block's
    int tile;

    __device__ __forceinline__ explicit cluster_part(int groups_)
        : count(cluster_size()), rank(cluster_rank()), groups(groups_) {
        const int block = static_cast<int>(blockIdx.x), cluster = count == 1 ? block : block / count;
        group = groups == 1 ? 0 : cluster % groups, tile = groups == 1 ? cluster : cluster / groups;
    }

    // Leaves the operands that part of k: whole slabs of `depth`.
    template <typename T> __device__ __forceinline__ void take(operands<T, false> &op, int depth) const {
        if (groups * count == 1) return; // divisions of 64 bits take long
        const int64_t slabs = (op.k + depth - 1) / depth, part = group * count + rank;
        const int64_t begin = slabs * part / (groups * count) * depth;
        const int64_t end = slabs * (part + 1) / (groups * count) * depth;
        op.a.data += begin * op.a.column_stride, op.b.data += begin * op.b.row_stride;
        op.k = (end < op.k ? end : op.k) - begin;
    }
};

enum { MOST_PARTS = 8 }; // blocks of a cluster

// Adds the sums of a cluster's blocks. In each block, THREADS threads take part: they have written the block's sums
// of the tile to `sums` in its shared memory, one row of the tile after another, PITCH apart. Each block adds and
// stores its part of the rows. Every other thread of the cluster must call cluster_sync() and cluster_end().
template <int ROWS, int COLUMNS, int THREADS, int PITCH = COLUMNS, typename Sum, typename T>
__device__ __forceinline__ void add_parts_of_cluster(Sum *sums, int rank, int parts, int thread,
                                                     const output_matrix<T, false> &to, const tile_origin &first,
                                                     int64_t m, int64_t n) {
    constexpr int WIDTH = 16 / sizeof(Sum), PIECES = COLUMNS / WIDTH; // of 16 bytes; in a row of the tile
    struct alignas(16) piece {
        Sum values[WIDTH];
    };
    cluster_sync(); // all sums are there
    for (int i = rank * (ROWS / parts) * PIECES + thread; i < (rank + 1) * (ROWS / parts) * PIECES; i += THREADS) {
        const int64_t row = first.row + i / PIECES, column = first.column + i % PIECES * WIDTH;
        if (row >= m) break;
        if (column >= n) continue; // all that is read is used, so that it is here when the block ends
        Sum *const own = sums + i / PIECES * PITCH + i % PIECES * WIDTH;
        piece part[MOST_PARTS], total = {};
#pragma unroll
        for (int other = 0; other < MOST_PARTS; ++other) // all loads at once
            if (other < parts) part[other] = *reinterpret_cast<const piece *>(map_shared(own, other));
#pragma unroll
        for (int other = 0; other < MOST_PARTS; ++other)
#pragma unroll
            for (int j = 0; j < WIDTH; ++j)
                if (other < parts) total.values[j] += part[other].values[j];
#pragma unroll
        for (int j = 0; j < WIDTH; j += 2)
            store_pair(to, row, column + j, m, n, total.values[j], total.values[j + 1]);
    }
    cluster_end(); // no block ends while others may still read its sums
}

} // namespace matmul

#endif

// matmul "warp_tiles_split_k": comes after "small_tiles".
//
// Change  The blocks of a cluster compute one tile of 64 x 64 together: each takes a part of k, and they add their
//         sums through distributed shared memory. Where k is very long, several clusters (groups) share a tile: they
//         write their sums to a workspace, and a second kernel adds them.
// Why     Where C is small, "warp_tiles" has fewer tiles than there are multiprocessors, and with a long k each of
//         them takes long.
// Claim   blocks at work for m = n = k = 512: 64 tiles x 8 parts = 512 (before: 64)
// Gain    on an H200, 16 x 4096 x 4096: 78 us (before: 143; cuBLAS 88); 256 x 256 x 256: 9.4 us (cuBLAS 11.4)
// Price   The sums of a tile go through shared memory once, and the cluster waits for its slowest block. Groups cost
//         a second launch.
// Edges   as in "warp_tiles". A block whose part of k is empty adds zeros.
// Map     cluster c: group c % groups of tile c / groups; block r of it: part group * parts + r of k, and then some
//         rows of the tile. blockIdx.z: the product
// Limit   the start of a kernel, where C is small; the rate of instructions otherwise
#ifndef CK_MATMUL_WARP_TILES_SPLIT_K_CUH
#define CK_MATMUL_WARP_TILES_SPLIT_K_CUH

#include "../parts/group_sums.cuh"
#include "16_warp_tiles.cuh"

namespace matmul {

template <bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(warp_tiles_small::THREADS, 4)
    warp_tiles_split_k(const operand_stack<float, false> stack, const group_sums sums_of_groups) {
    using size = warp_tiles_small;
    constexpr int ROWS = size::ROWS, COLUMNS = size::COLUMNS;
    static_assert(ROWS * COLUMNS * 4 <= size::SHARED_BYTES, "the sums take the place of the slabs");
    DYNAMIC_SHARED(float, slabs);
    operands<float, false> op = stack.of_block();
    let_next_grid_begin(); // add_groups, which waits
    const int parts = cluster_size(), rank = cluster_rank(), groups = sums_of_groups.groups;
    const int cluster = static_cast<int>(blockIdx.x) / parts, group = cluster % groups;
    const tile_origin first = tile_of_block<ROWS, COLUMNS>(op.m, op.n, static_cast<unsigned>(cluster / groups));
    const warp_place<size> place;

    // This block's part of k: whole slabs.
    const int64_t slabs_of_k = (op.k + size::DEPTH - 1) / size::DEPTH, part = group * parts + rank;
    const int64_t begin = slabs_of_k * part / (groups * parts) * size::DEPTH;
    const int64_t end = slabs_of_k * (part + 1) / (groups * parts) * size::DEPTH;
    op.a.data += begin * op.a.column_stride, op.b.data += begin * op.b.row_stride;
    op.k = (end < op.k ? end : op.k) - begin;
    float sum[size::THREAD_ROWS][size::THREAD_COLUMNS] = {};
    add_warp_tile<size, A_ALONG_K, B_ALONG_K>(sum, slabs, op, first, place);

    __syncthreads(); // all warps have read the slabs
    const output_matrix<float, false> own = {slabs, COLUMNS, 1};
    store_tile<true>(own, place.ty, size::LANES_Y * 4, place.tx, size::LANES_X * 4, ROWS, COLUMNS, sum);
    add_parts_of_cluster<ROWS, COLUMNS, size::THREADS>(slabs, rank, parts, static_cast<int>(threadIdx.x),
                                                       sums_of_groups.target(op, group, groups), first, op.m, op.n);
}

} // namespace matmul

#endif

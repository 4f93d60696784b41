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
    const cluster_part part(sums_of_groups.groups);
    const tile_origin first = tile_of_block<ROWS, COLUMNS>(op.m, op.n, part.tile);
    const warp_place<size> place;
    part.take(op, size::DEPTH);
    float sum[size::THREAD_ROWS][size::THREAD_COLUMNS] = {};
    add_warp_tile<size, A_ALONG_K, B_ALONG_K>(sum, slabs, op, first, place);

    __syncthreads(); // all warps have read the slabs
    const output_matrix<float, false> own = {slabs, COLUMNS, 1};
    store_tile<true>(own, place.ty, size::LANES_Y * 4, place.tx, size::LANES_X * 4, ROWS, COLUMNS, sum);
    add_parts_of_cluster<ROWS, COLUMNS, size::THREADS>(slabs, part.rank, part.count, static_cast<int>(threadIdx.x),
                                                       sums_of_groups.target(op, part.group, part.groups), first,
                                                       op.m, op.n);
}

} // namespace matmul

#endif

// Cooperative groups: the block, tiles of a warp, the lanes that happen to be together, and the whole grid.
#include "kernels.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Columns: rank and size of the block, rank and size of the tile, which tile, sum over the tile by shfl_down from
// lane 0, xor butterfly sum, up-neighbour, ballot, any, all.
enum { TILE_COLUMNS = 11 };
template <int TILE> __global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<TILE>(block);
    int t = block.thread_rank(), value = in[t];
    int *mine = out + TILE_COLUMNS * t;
    mine[0] = t, mine[1] = block.size();
    mine[2] = tile.thread_rank(), mine[3] = tile.size(), mine[4] = tile.meta_group_rank();
    int sum = value, butterfly = value;
    for (int step = TILE / 2; step > 0; step /= 2) {
        sum += tile.shfl_down(sum, step);
        butterfly += tile.shfl_xor(butterfly, step);
    }
    mine[5] = tile.shfl(sum, 0), mine[6] = butterfly;
    mine[7] = tile.shfl_up(value, 1);
    mine[8] = (int)tile.ballot(value & 1);
    mine[9] = tile.any(value & 1) != 0, mine[10] = tile.all(value & 1) != 0;
    tile.sync();
    block.sync();
}
ENTRY run_tiles_32(const Shape *shape, const int *in, int *out) {
    return launch(shape, tiles<32>, in, out);
}
ENTRY run_tiles_16(const Shape *shape, const int *in, int *out) {
    return launch(shape, tiles<16>, in, out);
}
ENTRY run_tiles_4(const Shape *shape, const int *in, int *out) {
    return launch(shape, tiles<4>, in, out);
}

// Columns: rank and size of the group of odd or even lanes, the value of its first lane.
__global__ void coalesced(int *out) {
    int t = threadIdx.x;
    if (t % 2) {
        cg::coalesced_group group = cg::coalesced_threads();
        out[3 * t] = group.thread_rank(), out[3 * t + 1] = group.size(), out[3 * t + 2] = group.shfl(t, 0);
        group.sync();
    } else {
        cg::coalesced_group group = cg::coalesced_threads();
        out[3 * t] = group.thread_rank(), out[3 * t + 1] = group.size(), out[3 * t + 2] = group.shfl(t, 0);
    }
}
ENTRY run_coalesced(const Shape *shape, int *out) {
    return launch(shape, coalesced, out);
}

// The grid as one group: in each round a block adds up what all blocks wrote in the round before.
__global__ void grid_rounds(long long *cells, long long *out, int rounds) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    __shared__ long long total;
    long long value = blockIdx.x + 1;
    for (int round = 0; round < rounds; ++round) {
        if (block.thread_rank() == 0) cells[blockIdx.x] = value;
        grid.sync();
        if (threadIdx.x == 0) {
            total = 0;
            for (unsigned b = 0; b < gridDim.x; ++b) total += cells[b];
        }
        cg::sync(block);
        value = total % 1000003 + blockIdx.x;
        grid.sync();
    }
    out[grid.thread_rank()] = value;
    if (grid.size() != (unsigned long long)gridDim.x * blockDim.x) out[grid.thread_rank()] = -1;
}
ENTRY run_grid_rounds(const Shape *shape, long long *cells, long long *out, int rounds) {
    return launch(shape, grid_rounds, cells, out, rounds);
}

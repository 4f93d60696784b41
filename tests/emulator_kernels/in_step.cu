// Blocks that meet before some of their tiles (matmul/parts/split_shares.cuh). test_in_step.py says what must hold.
#include "kernels.h"
#include "kernels/matmul/parts/split_shares.cuh"

// Each block has as many tiles. times[block][tile]: a number before it meets the others, and one after; they rise over all blocks.
__global__ void meet(unsigned *arrivals, int clusters, int slabs_of_tile, int polls, int tiles, unsigned *clock,
                     unsigned *times) {
    matmul::clusters_in_step step(arrivals, clusters, slabs_of_tile, polls);
    for (int tile = 0; tile < tiles; ++tile) {
        unsigned *const own = times + (blockIdx.x * tiles + tile) * 2;
        own[0] = atomicAdd(clock, 1u);
        __threadfence(); // counted before the block arrives
        step.begin_tile();
        own[1] = atomicAdd(clock, 1u);
    }
}
ENTRY run_meet(const Shape *shape, unsigned *arrivals, int clusters, int slabs_of_tile, int polls, int tiles,
               unsigned *clock, unsigned *times) {
    return launch(shape, meet, arrivals, clusters, slabs_of_tile, polls, tiles, clock, times);
}

// Kernels that each break one rule. On a GPU they would hang, or answer nonsense; the emulator must stop each with an
// error that names kernel, source line, block and thread. "HERE: name" marks the lines that the error may name.
#include "kernels.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

#define BROKEN(name)                                                                                                 \
    ENTRY run_##name(const Shape *shape, int *out) {                                                                 \
        return launch(shape, name, out);                                                                             \
    }

// Lane 5 is named in the mask, lives on, and never comes.
__global__ void missing_lane(int *out) {
    int got = -1;
    if (threadIdx.x != 5) {
        got = __shfl_sync(0xffffffffu, (int)threadIdx.x, 0); // HERE: missing_lane
    }
    __syncthreads(); // HERE: missing_lane
    out[threadIdx.x] = got;
}
BROKEN(missing_lane)

__global__ void missing_lane_vote(int *out) {
    int got = -1;
    if (threadIdx.x % 2) {
        got = __all_sync(0xffffffffu, 1); // HERE: missing_lane_vote
    } else {
        __syncthreads(); // HERE: missing_lane_vote
    }
    out[threadIdx.x] = got;
}
BROKEN(missing_lane_vote)

// Two halves of a block wait at two barriers.
__global__ void half_skips(int *out) {
    out[threadIdx.x] = 0;
    if (threadIdx.x < blockDim.x / 2) {
        __syncthreads(); // HERE: half_skips
        out[threadIdx.x] = 1;
    } else {
        __syncthreads(); // HERE: half_skips
        out[threadIdx.x] = 2;
    }
}
BROKEN(half_skips)

// One half waits for the block, the other for its warp with a mask that names the first.
__global__ void half_waits_for_warp(int *out) {
    if (threadIdx.x % 32 < 16) {
        __syncthreads(); // HERE: half_waits_for_warp
    } else {
        __syncwarp(0xffffffffu); // HERE: half_waits_for_warp
    }
    out[threadIdx.x] = 1;
}
BROKEN(half_waits_for_warp)

// A plain barrier on one side, a counting one on the other.
__global__ void two_kinds(int *out) {
    int count = -1;
    if (threadIdx.x < blockDim.x / 2) {
        __syncthreads(); // HERE: two_kinds
    } else {
        count = __syncthreads_count(1); // HERE: two_kinds
    }
    out[threadIdx.x] = count;
}
BROKEN(two_kinds)

__global__ void exited_lane(int *out) {
    if (threadIdx.x == 3) return;
    out[threadIdx.x] = __shfl_sync(0xffffffffu, (int)threadIdx.x, 3); // HERE: exited_lane
}
BROKEN(exited_lane)

__global__ void caller_not_in_mask(int *out) {
    out[threadIdx.x] = (int)__ballot_sync(0x0000ffffu, 1); // HERE: caller_not_in_mask
}
BROKEN(caller_not_in_mask)

__global__ void empty_mask(int *out) {
    out[threadIdx.x] = __any_sync(0u, 1); // HERE: empty_mask
}
BROKEN(empty_mask)

// Even lanes and odd lanes name each other in different masks.
__global__ void clashing_masks(int *out) {
    unsigned mask = threadIdx.x % 2 ? 0xffffffffu : 0x7fffffffu;
    out[threadIdx.x] = (int)__ballot_sync(mask, 1); // HERE: clashing_masks
}
BROKEN(clashing_masks)

// Two different operations with the same mask.
__global__ void clashing_operations(int *out) {
    int got;
    if (threadIdx.x < 16) {
        got = __shfl_sync(0xffffffffu, 1, 0); // HERE: clashing_operations
    } else {
        got = (int)__ballot_sync(0xffffffffu, 1); // HERE: clashing_operations
    }
    out[threadIdx.x] = got;
}
BROKEN(clashing_operations)

// The headers implement the next three by calling other functions of theirs: the error must still name this file.
__global__ void half_shuffle(int *out) {
    const __half one = __float2half(1.0f);
    out[threadIdx.x] = static_cast<int>(__half2float(__shfl_sync(0x0000ffffu, one, 20))); // HERE: half_shuffle
}
BROKEN(half_shuffle)

__global__ void tile_lacks_a_lane(int *out) {
    const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    if (threadIdx.x == 1) return;
    out[threadIdx.x] = tile.shfl(1, 1); // HERE: tile_lacks_a_lane
}
BROKEN(tile_lacks_a_lane)

__global__ void reduction_lacks_a_lane(int *out) {
    namespace cg = cooperative_groups;
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    if (threadIdx.x == 5)
        tile.sync(); // HERE: reduction_lacks_a_lane
    else
        out[threadIdx.x] = cg::reduce(tile, 1, cg::plus<int>()); // HERE: reduction_lacks_a_lane
}
BROKEN(reduction_lacks_a_lane)

__global__ void group_waits_twice(int *out) {
    const auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 1) {
        block.sync(); // HERE: group_waits_twice
    } else {
        cooperative_groups::sync(block); // HERE: group_waits_twice
    }
    out[threadIdx.x] = 1;
}
BROKEN(group_waits_twice)

// grid.sync() in a launch that is not cooperative.
__global__ void plain_grid_sync(int *out) {
    cooperative_groups::this_grid().sync(); // HERE: plain_grid_sync
    out[threadIdx.x] = 1;
}
BROKEN(plain_grid_sync)

// One block of a cooperative launch waits for its own threads, the others for the grid.
__global__ void grid_skipped(int *out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        __syncthreads(); // HERE: grid_skipped
    } else {
        cooperative_groups::this_grid().sync(); // HERE: grid_skipped
    }
    out[threadIdx.x] = 1;
}
BROKEN(grid_skipped)

// A wild write in one block, while the others wait at barriers.
__global__ void writes_wild(int *out) {
    for (int i = 0; i < 100; ++i) {
        __syncthreads();
        if (i == 50 && blockIdx.x == 2 && threadIdx.x == 9) out[1ll << 40] = 1; // HERE: writes_wild
    }
}
BROKEN(writes_wild)

__device__ int deep(volatile int *out, int n) {
    volatile char local[100];
    local[n % 100] = (char)n;
    return n < out[1] ? n : deep(out, n + 1) + local[3];
}

// While all threads of the grid wait, the last thread of block out[0] overflows its stack.
__global__ void overflows(int *out) {
    cooperative_groups::this_grid().sync();
    if ((int)blockIdx.x == out[0] && threadIdx.x == blockDim.x - 1) out[1] = deep(out, 0); // HERE: overflows
    cooperative_groups::this_grid().sync();
}
BROKEN(overflows)

// A kernel without fault, to show that the device lives on.
__global__ void sound(int *out) {
    __shared__ int tile[1024];
    tile[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
BROKEN(sound)

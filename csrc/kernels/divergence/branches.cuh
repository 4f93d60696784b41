// divergence "branches": the only kernel of this ladder.
//
// Idea    Each thread takes one of two paths of equal length. A warp executes one instruction at a time for all its
//         lanes: if its lanes take both paths, it executes one path after the other, while the lanes of the other
//         path wait.
// Claim   paths that a warp executes: 1 if its lanes agree, otherwise 2. With "thread", 8 warps execute 9 paths; with
//         "lane", each warp executes 2; with "warp", each executes 1.
// Price   If every warp diverges, the kernel takes the time of both paths.
// Edges   Threads past the last element do nothing.
// Map     element i: thread i of the grid, in blocks of 256 threads
// Limit   Branch by whole warps, as "warp" does, so that neighboring threads take the same path.
#ifndef CK_DIVERGENCE_BRANCHES_CUH
#define CK_DIVERGENCE_BRANCHES_CUH

#include "../grid.cuh"

namespace divergence {

enum { THREADS = 256, ROUNDS = 256 };
enum branch { FIRST_PATH, SECOND_PATH, BY_THREAD, BY_LANE, BY_ODD_LANE, BY_WARP };

__device__ __forceinline__ bool takes_second_path(int branch, unsigned thread) {
    switch (branch) {
    case FIRST_PATH: return false;
    case SECOND_PATH: return true;
    case BY_THREAD: return thread > 2;
    case BY_LANE: return thread % 32 > 2;
    case BY_ODD_LANE: return thread % 2 == 1;
    default: return thread / 32 >= 2;
    }
}

// Both paths are chains of multiplications, each followed by an exclusive or, and are equally long. With additions
// instead, the compiler could reduce the chain of the first path to a single multiply-add.
__global__ void __launch_bounds__(THREADS)
    branches(const uint32_t *__restrict__ x, uint32_t *__restrict__ result, int64_t n, int branch) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    uint32_t value = x[i];
    if (takes_second_path(branch, threadIdx.x))
        for (int round = 0; round < ROUNDS; ++round) value = (value * value) ^ 12345u;
    else
        for (int round = 0; round < ROUNDS; ++round) value = (value * 1664525u) ^ 1013904223u;
    result[i] = value;
}

} // namespace divergence

#endif

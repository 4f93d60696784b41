// divergence "branches": the ladder begins here.
//
// Idea    A thread takes one of two paths of the same length. A warp has one place in the program: where its lanes take
//         both paths it walks one after the other, while the lanes of the other path wait.
// Claim   paths that a warp walks: 1 where its lanes agree, else 2; of "thread" 9 in 8 warps, of "lane" 2, of "warp" 1
// Price   where every warp diverges, the time of both paths
// Edges   threads beyond the last element do nothing
// Map     element i: thread i of the grid, in blocks of 256
// Limit   none: choose by whole warps, as "warp" does, and let neighbors agree
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

// Both paths are a chain of multiplications, each with an "exclusive or" behind it: none is shorter. With additions in
// its place the first would be a multiply-add in the end, which a compiler sees.
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

// exclusive_scan, inclusive_scan "blocks": comes after "block_chunks".
//
// Change  Many blocks, with one tile each, in three launches: the sum of each tile; the scan of these sums, by one
//         block; the scan of each tile, starting from the sum before it. Lanes exchange sums by shuffles.
// Why     All multiprocessors work, and neighboring lanes read neighboring elements. The end of a launch is the place
//         where all blocks wait for each other.
// Claim   words of global memory per element: 2 read and 1 written (before: 2 and 2), all of them coalesced
// Price   The input is read twice.
// Edges   Elements beyond the array count as nothing and are not written. One block scans any number of sums: it goes
//         on by as many as it has threads.
// Map     tile t: block t; element r * threads + i of the tile: round r, thread i
// Limit   the second read: "lookback" reads the input once
#ifndef CK_EXCLUSIVE_SCAN_BLOCKS_CUH
#define CK_EXCLUSIVE_SCAN_BLOCKS_CUH

#include "../parts/scan.cuh"

namespace scan {

enum { ROUNDS_A_TILE = 8 };

template <typename In, typename Acc, bool EXCLUSIVE>
__global__ void __launch_bounds__(1024) block_sums(const In *__restrict__ x, int64_t n, Acc *__restrict__ sums) {
    __shared__ Acc warp_sums[MOST_WARPS];
    const Acc none = nothing<Acc, EXCLUSIVE>();
    const int64_t tile = static_cast<int64_t>(blockIdx.x) * blockDim.x * ROUNDS_A_TILE;
    Acc sum = none;
    for (int r = 0; r < ROUNDS_A_TILE; ++r) {
        const int64_t i = tile + static_cast<int64_t>(r) * blockDim.x + threadIdx.x;
        if (i < n) sum += static_cast<Acc>(x[i]);
    }
    const Acc total = block_scan(sum, none, warp_sums).total;
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// Replaces each sum with the sum of all sums before it.
template <typename Acc, bool EXCLUSIVE>
__global__ void __launch_bounds__(1024) scan_of_sums(Acc *__restrict__ sums, int64_t count) {
    __shared__ Acc warp_sums[MOST_WARPS];
    const Acc none = nothing<Acc, EXCLUSIVE>();
    Acc before = none;
    for (int64_t first = 0; first < count; first += blockDim.x) {
        const int64_t i = first + threadIdx.x;
        const block_place<Acc> place = block_scan(i < count ? sums[i] : none, none, warp_sums);
        if (i < count) sums[i] = before + place.before;
        before += place.total;
    }
}

template <typename In, typename Acc, bool EXCLUSIVE>
__global__ void __launch_bounds__(1024)
    blocks(const In *__restrict__ x, Acc *__restrict__ result, int64_t n, const Acc *__restrict__ sums) {
    __shared__ Acc warp_sums[MOST_WARPS];
    const Acc none = nothing<Acc, EXCLUSIVE>();
    const int64_t tile = static_cast<int64_t>(blockIdx.x) * blockDim.x * ROUNDS_A_TILE;
    Acc before = sums[blockIdx.x];
    for (int r = 0; r < ROUNDS_A_TILE; ++r) {
        const int64_t i = tile + static_cast<int64_t>(r) * blockDim.x + threadIdx.x;
        const Acc value = i < n ? static_cast<Acc>(x[i]) : none;
        const block_place<Acc> place = block_scan(value, none, warp_sums);
        const Acc mine = before + place.before;
        if (i < n) result[i] = EXCLUSIVE ? mine : mine + value;
        before += place.total;
    }
}

} // namespace scan

#endif

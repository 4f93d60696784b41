// Definitions that the variants of both scans share: the initial value, and the scan of a warp and of a block.
//
// Additions in a scan must not be undone: "inclusive minus the element" would be NaN after an infinity. So each
// thread asks for the sum before its element, and adds its own element or does not.
#ifndef CK_EXCLUSIVE_SCAN_SCAN_CUH
#define CK_EXCLUSIVE_SCAN_SCAN_CUH

#include <stdint.h>
#include <type_traits>

#include <cuda_runtime.h>

#include "../../grid.cuh"

namespace scan {

enum { WARP = 32, MOST_WARPS = 32 };

constexpr unsigned ALL_LANES = 0xffffffffu;

// The sum of no elements. An exclusive scan begins with 0. An inclusive one begins with its first element, which may
// be -0.0, and only -0.0 + x is x for every x.
template <typename Acc, bool EXCLUSIVE> __host__ __device__ constexpr Acc nothing() {
    if (std::is_floating_point_v<Acc> && !EXCLUSIVE) return static_cast<Acc>(-0.0);
    return Acc(0);
}

// The sum of the values of this lane and of the lanes before it. All 32 lanes must call this function together.
template <typename Acc> __device__ __forceinline__ Acc warp_scan(Acc sum) {
    const int lane = threadIdx.x % WARP;
    for (int by = 1; by < WARP; by *= 2) {
        const Acc before = __shfl_up_sync(ALL_LANES, sum, by);
        if (lane >= by) sum = before + sum;
    }
    return sum;
}

// The sum before this lane, from the scan of the warp.
template <typename Acc> __device__ __forceinline__ Acc before_lane(Acc scanned, Acc none) {
    const Acc before = __shfl_up_sync(ALL_LANES, scanned, 1);
    return threadIdx.x % WARP == 0 ? none : before;
}

template <typename Acc> struct block_place {
    Acc before, total; // the sum of the values of the threads before this one, and of all
};

// All threads of the block must call this function together, and the block must consist of whole warps. `warp_sums`
// is in shared memory and has length MOST_WARPS.
template <typename Acc> __device__ __forceinline__ block_place<Acc> block_scan(Acc value, Acc none, Acc *warp_sums) {
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const Acc scanned = warp_scan(value);
    if (lane == WARP - 1) warp_sums[warp] = scanned;
    __syncthreads();
    if (warp == 0) {
        const Acc sums = warp_scan(lane < warps ? warp_sums[lane] : none);
        __syncwarp();
        warp_sums[lane] = sums;
    }
    __syncthreads();
    const Acc before = before_lane(scanned, none);
    const block_place<Acc> place = {warp == 0 ? before : warp_sums[warp - 1] + before, warp_sums[warps - 1]};
    __syncthreads(); // the next call writes warp_sums
    return place;
}

} // namespace scan

#endif

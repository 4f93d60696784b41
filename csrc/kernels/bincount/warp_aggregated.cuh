// bincount "warp_aggregated": comes after "shared_atomics".
//
// Change  Lanes of a warp with the same bin find each other, and one of them adds their number, in global memory.
// Why     Where neighboring elements are equal, a warp issues one operation instead of 32, and no lane waits.
// Claim   atomic operations in global memory: one per distinct bin in every 32 elements; n / 32 if all are equal
// Price   the search for equal bins in every 32 elements, whether it helps or not
// Edges   Lanes beyond the array, or without a bin, are in no mask.
// Map     element i: thread i % grid_threads()
// Limit   Random elements in many bins have no partners: then this is "global_atomics" plus a search.
#ifndef CK_BINCOUNT_WARP_AGGREGATED_CUH
#define CK_BINCOUNT_WARP_AGGREGATED_CUH

#include "global_atomics.cuh"

namespace bincount {

enum { WARP = 32 };

template <typename T>
__global__ void __launch_bounds__(1024)
    warp_aggregated(const T *__restrict__ x, int64_t n, count *__restrict__ counts, uint64_t bins) {
    const int lane = threadIdx.x % WARP;
    // The loop condition uses the element of the first lane, so that all lanes of the warp take part in the vote.
    for (int64_t first = grid_thread() - lane; first < n; first += grid_threads()) {
        const uint64_t bin = first + lane < n ? static_cast<uint64_t>(x[first + lane]) : bins;
        const bool counted = bin < bins;
        const unsigned lanes = __ballot_sync(0xffffffffu, counted);
        if (!counted) continue;
        const unsigned alike = __match_any_sync(lanes, static_cast<unsigned long long>(bin));
        if (lane == __ffs(static_cast<int>(alike)) - 1) atomicAdd(&counts[bin], static_cast<count>(__popc(alike)));
    }
}

} // namespace bincount

#endif

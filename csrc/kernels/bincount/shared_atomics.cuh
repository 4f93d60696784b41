// bincount "shared_atomics": comes after "global_atomics".
//
// Change  Each block counts in its own bins in shared memory, and adds them to the result at the end.
// Why     An atomic operation in shared memory stays on the multiprocessor, and only threads of the same block wait.
// Claim   atomic operations in global memory: at most blocks * bins, for any n (before: n)
// Price   4 bytes of shared memory per bin, and a barrier before and after
// Edges   Bins that do not fit are processed range by range, and the input is read once per range. The count of a
//         block fits in 32 bits, since its share of the elements of any memory does.
// Map     element i: thread i % grid_threads()
// Limit   Lanes of a warp with the same bin still wait for each other: see "warp_aggregated".
#ifndef CK_BINCOUNT_SHARED_ATOMICS_CUH
#define CK_BINCOUNT_SHARED_ATOMICS_CUH

#include "device_extras.cuh"
#include "global_atomics.cuh"

namespace bincount {

template <typename T>
__global__ void __launch_bounds__(1024)
    shared_atomics(const T *__restrict__ x, int64_t n, count *__restrict__ counts, uint64_t bins, unsigned held) {
    DYNAMIC_SHARED(unsigned, mine);
    for (uint64_t first = 0; first < bins; first += held) {
        const uint64_t left = bins - first;
        const unsigned here = left < held ? static_cast<unsigned>(left) : held;
        for (unsigned b = threadIdx.x; b < here; b += blockDim.x) mine[b] = 0;
        __syncthreads();
        for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
            const uint64_t bin = static_cast<uint64_t>(x[i]) - first; // below the range: a huge number
            if (bin < here) atomicAdd(&mine[bin], 1u);
        }
        __syncthreads();
        for (unsigned b = threadIdx.x; b < here; b += blockDim.x)
            if (mine[b] != 0) atomicAdd(&counts[first + b], count(mine[b]));
        __syncthreads(); // the next range clears
    }
}

} // namespace bincount

#endif

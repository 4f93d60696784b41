// extent "blocks": the only kernel of this ladder. "bincount" uses it to determine the number of bins.
//
// Idea    Each block finds the minimum and the maximum of its part. A second launch, of one block, combines them.
// Claim   words read: each element once
// Price   a second launch
// Edges   A thread without elements uses the largest value of the type as its minimum and the smallest value as its
//         maximum, so that any element replaces them. The result for an empty array is meaningless: callers must not
//         ask for it.
// Map     element i: thread i % grid_threads()
// Limit   one element per load: full memory bandwidth needs wider loads
#ifndef CK_EXTENT_BLOCKS_CUH
#define CK_EXTENT_BLOCKS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "../grid.cuh"

namespace extent {

enum { WARP = 32, MOST_WARPS = 32 };

template <typename T> struct range {
    T smallest, largest;

    __device__ __forceinline__ void take(range other) {
        if (other.smallest < smallest) smallest = other.smallest;
        if (other.largest > largest) largest = other.largest;
    }
};

template <typename T> __device__ __forceinline__ range<T> warp_range(range<T> mine) {
    for (int by = WARP / 2; by > 0; by /= 2) {
        const T smallest = __shfl_xor_sync(0xffffffffu, mine.smallest, by);
        const T largest = __shfl_xor_sync(0xffffffffu, mine.largest, by);
        mine.take({smallest, largest});
    }
    return mine;
}

// The result is valid in thread 0. All threads of the block must call this function, and the block must consist of
// whole warps.
template <typename T> __device__ __forceinline__ range<T> block_range(range<T> mine, range<T> none) {
    __shared__ T smallest[MOST_WARPS], largest[MOST_WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    mine = warp_range(mine);
    if (lane == 0) {
        smallest[warp] = mine.smallest;
        largest[warp] = mine.largest;
    }
    __syncthreads();
    if (warp == 0) mine = warp_range(lane < warps ? range<T>{smallest[lane], largest[lane]} : none);
    return mine;
}

template <typename In, typename T>
__global__ void __launch_bounds__(1024)
    blocks(const In *__restrict__ x, int64_t n, range<T> none, range<T> *__restrict__ ranges) {
    range<T> mine = none;
    for (int64_t i = grid_thread(); i < n; i += grid_threads())
        mine.take({static_cast<T>(x[i]), static_cast<T>(x[i])});
    mine = block_range(mine, none);
    if (threadIdx.x == 0) ranges[blockIdx.x] = mine;
}

template <typename T>
__global__ void __launch_bounds__(1024)
    of_blocks(const range<T> *__restrict__ ranges, int64_t count, range<T> none, T *__restrict__ result) {
    range<T> mine = none;
    for (int64_t b = threadIdx.x; b < count; b += blockDim.x) mine.take(ranges[b]);
    mine = block_range(mine, none);
    if (threadIdx.x == 0) {
        result[0] = mine.smallest;
        result[1] = mine.largest;
    }
}

} // namespace extent

#endif

// extent "blocks": the one step of this ladder, which "bincount" asks how many bins there are.
//
// Idea    Each block finds the smallest and the largest of its share; a second launch, of one block, those of all.
// Claim   words read: each element once
// Price   a second launch
// Edges   a thread without elements has the type's last number as the smallest and its first as the largest, which
//         every element beats; so does an empty array, whose caller must not ask
// Map     element i: thread i % grid_threads()
// Limit   an element a load: the memory's speed needs wider ones
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

// In thread 0; all threads of the block call it, whole warps of them.
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

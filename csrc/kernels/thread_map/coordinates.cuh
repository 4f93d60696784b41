// thread_map "coordinates": the ladder begins here.
//
// Idea    Blocks tile an array as a grid tiles a page: the thread's place in its block plus the block's place in the
//         grid, axis by axis, is the element that it has. Each thread adds a number of its own to that element, so the
//         result tells who was there.
// Claim   threads at work: the array's elements within the grid; all others of the grid are idle
// Price   idle threads: those of edge blocks that lie beyond the array
// Edges   `if` keeps threads beyond the array out of it; elements that no thread comes to stay 0
// Map     x = blockIdx.x * blockDim.x + threadIdx.x, y and z likewise; x is the array's last axis
// Limit   it only shows; what the map costs where neighbors in a warp are no neighbors in memory: "coalescing"
#ifndef CK_THREAD_MAP_COORDINATES_CUH
#define CK_THREAD_MAP_COORDINATES_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace thread_map {

// Lengths along x, y and z.
struct extent {
    int64_t x, y, z;
};

// numbers: one a thread, block after block.
template <typename T>
__global__ void __launch_bounds__(1024)
    coordinates(const T *__restrict__ elements, const T *__restrict__ numbers, T *__restrict__ result, extent array) {
    const int64_t x = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t y = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    const int64_t z = static_cast<int64_t>(blockIdx.z) * blockDim.z + threadIdx.z;
    const int64_t block = (static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int64_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int64_t threads = static_cast<int64_t>(blockDim.x) * blockDim.y * blockDim.z;

    if (x < array.x && y < array.y && z < array.z) {
        const int64_t i = (z * array.y + y) * array.x + x;
        result[i] = elements[i] + numbers[block * threads + thread];
    }
}

} // namespace thread_map

#endif

// thread_map "coordinates": the only kernel of this ladder.
//
// Idea    The blocks of a grid tile an array. Along each axis, the index of a thread's element is the index of its
//         block times the block's length plus its own index in the block. Each thread adds its own number to its
//         element, so the result shows which thread processed which element.
// Claim   threads at work: one per element of the array that the grid covers; all other threads are idle
// Price   idle threads: the threads of edge blocks that are outside the array
// Edges   The `if` excludes threads outside the array. Elements that the grid does not cover remain 0.
// Map     x = blockIdx.x * blockDim.x + threadIdx.x, and likewise y and z; x is the last axis of the array
// Limit   This kernel only shows the map. The operation "coalescing" shows what it costs if neighbors in a warp are
//         not neighbors in memory.
#ifndef CK_THREAD_MAP_COORDINATES_CUH
#define CK_THREAD_MAP_COORDINATES_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace thread_map {

// The lengths along x, y and z.
struct extent {
    int64_t x, y, z;
};

// numbers: one per thread, block by block.
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

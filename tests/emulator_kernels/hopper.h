// What the kernels with Hopper's instructions share.
#ifndef HOPPER_H
#define HOPPER_H

#include "kernels.h"

#include "mbarrier.cuh"
#include "tensor_copy.cuh"
#include "tensor_core.cuh"
#include "tensor_map.h"
#include "wgmma.cuh"

// Dynamic shared memory from a multiple of 1024 bytes on: launches ask for 1024 bytes more.
__device__ __forceinline__ char *boxes() {
    DYNAMIC_SHARED(char, memory);
    const size_t address = reinterpret_cast<size_t>(memory);
    return memory + ((address + 1023) / 1024 * 1024 - address);
}

// A map of two axes.
inline int shape_of(tensor_map *map, const void *address, int element, int width, int height, int box_width,
                    int box_height, int swizzle) {
    tensor_map_shape shape = {};
    shape.element_bytes = element;
    shape.axes = 2;
    shape.lengths[0] = width, shape.lengths[1] = height;
    shape.strides[1] = static_cast<uint64_t>(width) * element;
    shape.box[0] = box_width, shape.box[1] = box_height;
    shape.swizzle = swizzle;
    return tensor_map_make(map, address, &shape);
}

// Operands of one depth of 64 in shared memory, which the block fills with one number where TMA would write them.
template <int N> __device__ __forceinline__ void fill(char *memory, __half value) {
    __half *elements = reinterpret_cast<__half *>(memory);
    for (int i = threadIdx.x; i < (64 + N) * 64; i += blockDim.x) elements[i] = value;
    fence_async_proxy();
    __syncthreads();
}
template <int N> __device__ __forceinline__ void multiply_64(float (&sum)[N / 2], char *a, bool add, int steps = 4) {
    for (int i = 0; i < steps; ++i)
        wgmma<__half, N, false, false>(sum, wgmma_descriptor(a + i * 32, 8192),
                                       wgmma_descriptor(a + 8192 + i * 32, 8192), add || i > 0);
}

#endif

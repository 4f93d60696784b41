// Descriptions of arrays and boxes for tensor_copy.cuh: here the emulator's; csrc/gpu has a file of the same name and
// meaning, which explains them.
#ifndef EMULATOR_TENSOR_MAP_H
#define EMULATOR_TENSOR_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Axes from the innermost on, whose elements are contiguous.
typedef struct tensor_map_shape {
    int element_bytes; // 1, 2, 4 or 8
    int axes;          // 2 to 5
    uint64_t lengths[5];
    uint64_t strides[5]; // bytes; multiples of 16 (that of axis 0 is not used)
    uint32_t box[5];     // elements, at most 256 along each axis
    int swizzle;         // bytes: 0, 32, 64 or 128; not less than the box has along axis 0
} tensor_map_shape;

enum { EMU_TENSOR_MAP = 0x7e5072a9 };

typedef struct __attribute__((aligned(64))) CUtensorMap_st { // CUDA's name, so that kernels have the same symbols
    tensor_map_shape shape;
    const void *address;
    uint64_t mark; // EMU_TENSOR_MAP: tensor_map_make has filled it in
} tensor_map;

// `address` is a multiple of 16. Returns a cudaError_t: cudaErrorInvalidValue for a shape that TMA does not take.
static inline int tensor_map_make(tensor_map *map, const void *address, const tensor_map_shape *shape) {
    if (!map || !address || !shape) return cudaErrorInvalidValue;
    const int bytes = shape->element_bytes, swizzle = shape->swizzle;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return cudaErrorInvalidValue;
    if (shape->axes < 2 || shape->axes > 5) return cudaErrorInvalidValue;
    if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) return cudaErrorInvalidValue;
    if ((uintptr_t)map % 64 || (uintptr_t)address % 16) return cudaErrorInvalidValue;
    for (int i = 0; i < shape->axes; ++i) {
        if (shape->lengths[i] < 1 || shape->lengths[i] > (uint64_t)1 << 32) return cudaErrorInvalidValue;
        if (shape->box[i] < 1 || shape->box[i] > 256) return cudaErrorInvalidValue;
        if (i && (shape->strides[i] % 16 || shape->strides[i] >= (uint64_t)1 << 40)) return cudaErrorInvalidValue;
    }
    const uint32_t row = shape->box[0] * (uint32_t)bytes;
    if (row % 16 || (swizzle && row > (uint32_t)swizzle)) return cudaErrorInvalidValue;
    map->shape = *shape;
    map->address = address;
    map->mark = EMU_TENSOR_MAP;
    return cudaSuccess;
}

#ifdef __cplusplus
}
#endif
#endif

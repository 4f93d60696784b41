// Descriptions of arrays and boxes for tensor_copy.cuh: here the emulator's; csrc/gpu has a file of the same name and meaning.
#ifndef EMULATOR_TENSOR_MAP_H
#define EMULATOR_TENSOR_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

typedef struct tensor_map {
    const void *address;
    uint64_t lengths[5], strides[4]; // of axes 1...4
    uint16_t box[5];
    uint8_t element_bytes, axes, swizzle;
} __attribute__((aligned(64))) tensor_map;

// `address` is a multiple of 16. Returns a cudaError_t: cudaErrorInvalidValue for a shape that TMA does not take.
static inline int tensor_map_make(tensor_map *map, const void *address, const tensor_map_shape *shape) {
    if ((uintptr_t)address % 16 != 0 || shape->axes < 2 || shape->axes > 5) return (int)cudaErrorInvalidValue;
    memset(map, 0, sizeof *map);
    map->address = address;
    map->element_bytes = (uint8_t)shape->element_bytes;
    map->axes = (uint8_t)shape->axes;
    map->swizzle = (uint8_t)shape->swizzle;
    for (int i = 0; i < shape->axes; i++) {
        const uint64_t length = shape->lengths[i], stride = i > 0 ? shape->strides[i] : 16;
        if (length < 1 || length > (uint64_t)1 << 32 || stride == 0 || stride % 16 != 0 ||
            stride >= (uint64_t)1 << 40 || shape->box[i] < 1 || shape->box[i] > 256)
            return (int)cudaErrorInvalidValue;
        map->lengths[i] = length;
        map->box[i] = (uint16_t)shape->box[i];
        if (i > 0) map->strides[i - 1] = stride;
    }
    const uint64_t row = (uint64_t)shape->box[0] * (uint64_t)shape->element_bytes;
    if (row % 16 != 0 || (shape->swizzle != 0 && row > (uint64_t)shape->swizzle)) return (int)cudaErrorInvalidValue;
    return (int)cudaSuccess;
}

#ifdef __cplusplus
}
#endif
#endif

// make_cudaExtent(width, height, depth) and similar functions. Also for C.
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "texture_types.h"

static inline __attribute__((unused)) struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    struct cudaExtent extent = {width, height, depth};
    return extent;
}
static inline __attribute__((unused)) struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    struct cudaPos position = {x, y, z};
    return position;
}
static inline __attribute__((unused)) struct cudaPitchedPtr make_cudaPitchedPtr(void *data, size_t pitch,
                                                                                size_t width, size_t height) {
    struct cudaPitchedPtr pointer = {data, pitch, width, height};
    return pointer;
}

#endif

// GPU code that was compiled at run time. The emulator loads shared libraries instead (csrc/runtime/set.c), so these
// functions are not supported here. csrc/gpu has a file of the same name with the same functions.
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

#include "cuda_runtime_api.h"

static inline cudaError_t program_image_load(void **library, const void *image) {
    (void)library, (void)image;
    return cudaErrorNotSupported;
}
static inline cudaError_t program_image_kernel(cudaKernel_t *kernel, void *library, const char *name) {
    (void)kernel, (void)library, (void)name;
    return cudaErrorNotSupported;
}
static inline cudaError_t program_image_variable(void **address, size_t *bytes, void *library, const char *name) {
    (void)address, (void)bytes, (void)library, (void)name;
    return cudaErrorNotSupported;
}

#endif

// GPU code that was compiled at run time (by NVRTC), loaded into the CUDA runtime. The emulator, which loads shared
// libraries instead, has a file of the same name with the same functions.
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 12080
static inline cudaError_t program_image_load(void **library, const void *image) {
    cudaLibrary_t loaded = NULL;
    const cudaError_t code = cudaLibraryLoadData(&loaded, image, NULL, NULL, 0, NULL, NULL, 0);
    *library = (void *)loaded;
    return code;
}
static inline cudaError_t program_image_kernel(cudaKernel_t *kernel, void *library, const char *name) {
    return cudaLibraryGetKernel(kernel, (cudaLibrary_t)library, name);
}
// On the current device.
static inline cudaError_t program_image_variable(void **address, size_t *bytes, void *library, const char *name) {
    return cudaLibraryGetGlobal(address, bytes, (cudaLibrary_t)library, name);
}
#else // older runtimes lack these functions
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

#endif

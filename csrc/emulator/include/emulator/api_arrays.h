// A part of cuda_runtime_api.h: memory with three axes, and further copies to and from arrays. Each is one of the
// copies that cudaMemcpy3D makes.
#ifndef EMULATOR_API_ARRAYS_H
#define EMULATOR_API_ARRAYS_H

#include "../driver_functions.h"

EMU_CUDA(cudaMalloc3D, (struct cudaPitchedPtr * pointer, struct cudaExtent extent),
         !pointer ? emu_note_error(cudaErrorInvalidValue, "cudaMalloc3D: the pointer for the result is NULL")
                  : (pointer->xsize = extent.width, pointer->ysize = extent.height,
                     emu_malloc_pitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height *extent.depth)))

// Planes follow each other, so they are rows of one plane if whole planes are set; else each is set by itself.
static inline __attribute__((unused)) cudaError_t
emu_set_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream, int async) {
    int code = 0;
    if (extent.height == to.ysize)
        return (cudaError_t)emu_set(to.ptr, to.pitch, value, extent.width, extent.height * extent.depth, stream,
                                    async);
    for (size_t z = 0; z < extent.depth && !code; ++z)
        code = emu_set((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width, extent.height, stream,
                       async);
    return (cudaError_t)code;
}
EMU_CUDA(cudaMemset3D, (struct cudaPitchedPtr to, int value, struct cudaExtent extent),
         emu_set_3d(to, value, extent, NULL, 0))
EMU_CUDA(cudaMemset3DAsync,
         (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream EMU_OR(0)),
         emu_set_3d(to, value, extent, stream, 1))

// All addresses are unified, so a copy between devices is one like any other.
static inline __attribute__((unused)) cudaError_t emu_copy_3d_peer(const struct cudaMemcpy3DPeerParms *p,
                                                                   cudaStream_t stream, int async) {
    if (!p) return (cudaError_t)emu_array_copy(NULL, stream, async);
    const struct cudaMemcpy3DParms same = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                           p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
    return (cudaError_t)emu_array_copy(&same, stream, async);
}
EMU_CUDA(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), emu_copy_3d_peer(p, NULL, 0))
EMU_CUDA(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream EMU_OR(0)),
         emu_copy_3d_peer(p, stream, 1))

EMU_CUDA(cudaGetChannelDesc, (struct cudaChannelFormatDesc * channels, cudaArray_const_t array),
         !channels ? emu_note_error(cudaErrorInvalidValue, "cudaGetChannelDesc: the pointer for the result is NULL")
                   : emu_array_info(channels, NULL, NULL, array))
EMU_CUDA(cudaMemcpy2DFromArray,
         (void *to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height,
          enum cudaMemcpyKind kind),
         emu_array_copy_2d_back(to, pitch, array, x, y, width, height, (int)kind, NULL, 0))
EMU_CUDA(cudaMemcpy2DFromArrayAsync,
         (void *to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height,
          enum cudaMemcpyKind kind, cudaStream_t stream EMU_OR(0)),
         emu_array_copy_2d_back(to, pitch, array, x, y, width, height, (int)kind, stream, 1))
EMU_CUDA(cudaMemcpy2DArrayToArray,
         (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y,
          size_t width, size_t height, enum cudaMemcpyKind kind EMU_OR(cudaMemcpyDeviceToDevice)),
         emu_array_copy_between(to, to_x, to_y, from, from_x, from_y, width, height, (int)kind))

// A number of bytes, in the order of the array's rows.
EMU_CUDA(cudaMemcpyToArray,
         (cudaArray_t array, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind),
         emu_array_copy_bytes(array, x, y, (void *)(uintptr_t)from, bytes, (int)kind, 1, NULL, 0))
EMU_CUDA(cudaMemcpyToArrayAsync,
         (cudaArray_t array, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind,
          cudaStream_t stream EMU_OR(0)),
         emu_array_copy_bytes(array, x, y, (void *)(uintptr_t)from, bytes, (int)kind, 1, stream, 1))
EMU_CUDA(cudaMemcpyFromArray,
         (void *to, cudaArray_const_t array, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind),
         emu_array_copy_bytes(array, x, y, to, bytes, (int)kind, 0, NULL, 0))
EMU_CUDA(cudaMemcpyFromArrayAsync,
         (void *to, cudaArray_const_t array, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind,
          cudaStream_t stream EMU_OR(0)),
         emu_array_copy_bytes(array, x, y, to, bytes, (int)kind, 0, stream, 1))

#endif

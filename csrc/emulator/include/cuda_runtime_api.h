// CUDA's host API on the emulator: the C part, with CUDA's names, numbers and meaning.
//
// Each function is a thin inline wrapper of the core's emu_* function (emulator/core.h). A program that is built with
// this header neither exports nor imports cuda* symbols, so the same process can also use a real CUDA runtime.
// Programs that use functions that are missing here fail to compile, which is better than failing later.
// cuda_runtime.h adds the C++ part.
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include <stddef.h>
#include <stdint.h>

#include "emulator/core.h"
#include "driver_types.h"

#define CUDART_VERSION 13000

#ifdef __cplusplus
extern "C" {
#define EMU_OR(value) = value // some of CUDA's parameters have defaults, in C++ only
#else
#define EMU_OR(value)
#endif
// Parameters are not in parentheses, because they are whole declarations and calls. After the call comes an
// instruction (of no effect), so that the compiler does not make a jump of the call: the line that calls could not be
// found then.
#define EMU_CUDA(name, parameters, call)                                                                             \
    static inline __attribute__((unused)) cudaError_t name parameters {                                              \
        cudaError_t emu_code = (cudaError_t)(call);                                                                  \
        __asm__ volatile("" : "+r"(emu_code));                                                                       \
        return emu_code;                                                                                             \
    }

// Errors
EMU_CUDA(cudaGetLastError, (void), emu_last_error(1))
EMU_CUDA(cudaPeekAtLastError, (void), emu_last_error(0))
static inline __attribute__((unused)) const char *cudaGetErrorName(cudaError_t code) {
    return emu_error_name((int)code);
}
static inline __attribute__((unused)) const char *cudaGetErrorString(cudaError_t code) {
    return emu_error_text((int)code);
}

// Devices
EMU_CUDA(cudaGetDeviceCount, (int *count), emu_device_count(count))
EMU_CUDA(cudaGetDevice, (int *device), emu_get_device(device))
EMU_CUDA(cudaSetDevice, (int device), emu_set_device(device))
EMU_CUDA(cudaGetDeviceProperties, (struct cudaDeviceProp * properties, int device),
         emu_device_properties(properties, sizeof *properties, device))
EMU_CUDA(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
         emu_device_attribute(value, (int)attribute, device))
EMU_CUDA(cudaDeviceGetPCIBusId, (char *text, int size, int device), emu_device_bus_id(text, size, device))
EMU_CUDA(cudaDeviceSynchronize, (void), emu_device_wait(NULL, NULL))
EMU_CUDA(cudaDeviceCanAccessPeer, (int *can, int device, int peer), emu_device_peers(can, device, peer))
EMU_CUDA(cudaDeviceEnablePeerAccess, (int peer, unsigned flags), emu_device_enable_peer(peer, flags, 1))
EMU_CUDA(cudaDeviceDisablePeerAccess, (int peer), emu_device_enable_peer(peer, 0, 0))
EMU_CUDA(cudaDeviceReset, (void), emu_device_reset())
EMU_CUDA(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), emu_limit((int)limit, &value, 1))
EMU_CUDA(cudaDeviceGetLimit, (size_t * value, enum cudaLimit limit), emu_limit((int)limit, value, 0))
EMU_CUDA(cudaDriverGetVersion, (int *version), emu_versions(version, NULL))
EMU_CUDA(cudaRuntimeGetVersion, (int *version), emu_versions(NULL, version))

// Memory
EMU_CUDA(cudaMalloc, (void **pointer, size_t bytes), emu_malloc(pointer, bytes))
EMU_CUDA(cudaMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height),
         emu_malloc_pitch(pointer, pitch, width, height))
EMU_CUDA(cudaFree, (void *pointer), emu_free(pointer))
EMU_CUDA(cudaMallocManaged, (void **pointer, size_t bytes, unsigned flags EMU_OR(cudaMemAttachGlobal)),
         emu_malloc_managed(pointer, bytes, flags))
EMU_CUDA(cudaMallocHost, (void **pointer, size_t bytes), emu_malloc_host(pointer, bytes, cudaHostAllocDefault))
EMU_CUDA(cudaHostAlloc, (void **pointer, size_t bytes, unsigned flags), emu_malloc_host(pointer, bytes, flags))
EMU_CUDA(cudaFreeHost, (void *pointer), emu_free_host(pointer))
EMU_CUDA(cudaHostRegister, (void *pointer, size_t bytes, unsigned flags),
         flags > 15 ? emu_note_error(cudaErrorInvalidValue, "cudaHostRegister: flags must be from 0 to 15")
                    : emu_register(pointer, bytes, 0))
EMU_CUDA(cudaHostGetFlags, (unsigned *flags, void *host), emu_host_flags(flags, host))
EMU_CUDA(cudaHostUnregister, (void *pointer), emu_unregister(pointer))
EMU_CUDA(cudaHostGetDevicePointer, (void **device, void *host, unsigned flags),
         emu_host_device_pointer(device, host, flags))
// Managed memory: advice and prefetches are stored and otherwise have no effect.
static inline __attribute__((unused)) int emu_location(struct cudaMemLocation location) {
    return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}
EMU_CUDA(cudaMemAdvise,
         (const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, struct cudaMemLocation location),
         emu_advise(pointer, bytes, (int)advice, emu_location(location)))
EMU_CUDA(cudaMemPrefetchAsync,
         (const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags,
          cudaStream_t stream EMU_OR(0)),
         flags ? emu_note_error(cudaErrorInvalidValue, "cudaMemPrefetchAsync: flags must be 0")
               : emu_prefetch(pointer, bytes, emu_location(location), stream))
EMU_CUDA(cudaStreamAttachMemAsync,
         (cudaStream_t stream, void *pointer, size_t bytes EMU_OR(0), unsigned flags EMU_OR(cudaMemAttachSingle)),
         ((void)bytes, emu_attach(pointer, flags, stream)))
EMU_CUDA(cudaMemRangeGetAttribute,
         (void *data, size_t size, enum cudaMemRangeAttribute attribute, const void *pointer, size_t bytes),
         emu_range_attribute(data, size, (int)attribute, pointer, bytes))
EMU_CUDA(cudaMemGetInfo, (size_t * free_bytes, size_t *total), emu_memory_info(free_bytes, total))
EMU_CUDA(cudaPointerGetAttributes, (struct cudaPointerAttributes * attributes, const void *pointer),
         emu_pointer_attributes(attributes, sizeof *attributes, pointer))

// Stream-ordered memory and its pools
EMU_CUDA(cudaMallocAsync, (void **pointer, size_t bytes, cudaStream_t stream),
         emu_malloc_async(pointer, bytes, NULL, stream))
EMU_CUDA(cudaMallocFromPoolAsync, (void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
         !pool ? emu_note_error(cudaErrorInvalidValue, "cudaMallocFromPoolAsync: the pool is NULL")
               : emu_malloc_async(pointer, bytes, pool, stream))
EMU_CUDA(cudaFreeAsync, (void *pointer, cudaStream_t stream), emu_free_async(pointer, stream))
EMU_CUDA(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device), emu_default_pool((void **)pool, device))
EMU_CUDA(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device),
         (pool ? (void)(*pool = NULL) : (void)0, emu_device_pool((void **)pool, device)))
EMU_CUDA(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool),
         !pool ? emu_note_error(cudaErrorInvalidValue, "cudaDeviceSetMemPool: the pool is NULL")
               : emu_device_pool((void **)&pool, device))
EMU_CUDA(cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *properties),
         !properties || properties->location.type != cudaMemLocationTypeDevice
             ? emu_note_error(cudaErrorInvalidValue, "cudaMemPoolCreate: a pool's location must be a device")
             : emu_pool_create((void **)pool, properties->location.id))
EMU_CUDA(cudaMemPoolDestroy, (cudaMemPool_t pool), emu_pool_destroy(pool))
EMU_CUDA(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), emu_pool_trim(pool, keep))
EMU_CUDA(cudaMemPoolSetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
         emu_pool_attribute(pool, (int)attribute, value, 1))
EMU_CUDA(cudaMemPoolGetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
         emu_pool_attribute(pool, (int)attribute, value, 0))

// Copies
EMU_CUDA(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
         emu_copy(to, bytes, from, bytes, bytes, 1, (int)kind, NULL, 0))
EMU_CUDA(cudaMemcpyAsync,
         (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream EMU_OR(0)),
         emu_copy(to, bytes, from, bytes, bytes, 1, (int)kind, stream, 1))
EMU_CUDA(cudaMemcpy2D,
         (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
          enum cudaMemcpyKind kind),
         emu_copy(to, to_pitch, from, from_pitch, width, height, (int)kind, NULL, 0))
EMU_CUDA(cudaMemcpy2DAsync,
         (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
          enum cudaMemcpyKind kind, cudaStream_t stream EMU_OR(0)),
         emu_copy(to, to_pitch, from, from_pitch, width, height, (int)kind, stream, 1))
EMU_CUDA(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t bytes),
         emu_copy_peer(to, to_device, from, from_device, bytes, NULL, 0))
EMU_CUDA(cudaMemcpyPeerAsync,
         (void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream EMU_OR(0)),
         emu_copy_peer(to, to_device, from, from_device, bytes, stream, 1))
EMU_CUDA(cudaMemset, (void *to, int value, size_t bytes), emu_set(to, bytes, value, bytes, 1, NULL, 0))
EMU_CUDA(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream EMU_OR(0)),
         emu_set(to, bytes, value, bytes, 1, stream, 1))
EMU_CUDA(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
         emu_set(to, pitch, value, width, height, NULL, 0))
EMU_CUDA(cudaMemset2DAsync,
         (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream EMU_OR(0)),
         emu_set(to, pitch, value, width, height, stream, 1))

// Arrays and textures
EMU_CUDA(cudaMallocArray,
         (cudaArray_t * array, const struct cudaChannelFormatDesc *channels, size_t width, size_t height EMU_OR(0),
          unsigned flags EMU_OR(0)),
         emu_array_create((void **)array, channels, width, height, 0, flags))
EMU_CUDA(cudaMalloc3DArray,
         (cudaArray_t * array, const struct cudaChannelFormatDesc *channels, struct cudaExtent extent,
          unsigned flags EMU_OR(0)),
         emu_array_create((void **)array, channels, extent.width, extent.height, extent.depth, flags))
EMU_CUDA(cudaFreeArray, (cudaArray_t array), emu_array_free(array))
EMU_CUDA(cudaArrayGetInfo,
         (struct cudaChannelFormatDesc * channels, struct cudaExtent *extent, unsigned *flags, cudaArray_t array),
         emu_array_info(channels, extent, flags, array))
EMU_CUDA(cudaMemcpy2DToArray,
         (cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
          enum cudaMemcpyKind kind),
         emu_array_copy_2d(array, x, y, from, pitch, width, height, (int)kind, NULL, 0))
EMU_CUDA(cudaMemcpy2DToArrayAsync,
         (cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
          enum cudaMemcpyKind kind, cudaStream_t stream EMU_OR(0)),
         emu_array_copy_2d(array, x, y, from, pitch, width, height, (int)kind, stream, 1))
EMU_CUDA(cudaMemcpy3D, (const struct cudaMemcpy3DParms *parameters), emu_array_copy(parameters, NULL, 0))
EMU_CUDA(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *parameters, cudaStream_t stream EMU_OR(0)),
         emu_array_copy(parameters, stream, 1))
EMU_CUDA(cudaCreateTextureObject,
         (cudaTextureObject_t * texture, const struct cudaResourceDesc *resource,
          const struct cudaTextureDesc *description, const struct cudaResourceViewDesc *view),
         emu_texture_create(texture, resource, description, view))
EMU_CUDA(cudaCreateSurfaceObject, (cudaSurfaceObject_t * surface, const struct cudaResourceDesc *resource),
         emu_surface_create(surface, resource))
EMU_CUDA(cudaDestroySurfaceObject, (cudaSurfaceObject_t surface), emu_texture_destroy(surface))
EMU_CUDA(cudaGetSurfaceObjectResourceDesc, (struct cudaResourceDesc * resource, cudaSurfaceObject_t surface),
         !resource ? emu_note_error(cudaErrorInvalidValue, "cudaGetSurfaceObjectResourceDesc: the pointer is NULL")
                   : emu_texture_info(resource, NULL, surface))
EMU_CUDA(cudaDestroyTextureObject, (cudaTextureObject_t texture), emu_texture_destroy(texture))
EMU_CUDA(cudaGetTextureObjectResourceDesc, (struct cudaResourceDesc * resource, cudaTextureObject_t texture),
         !resource ? emu_note_error(cudaErrorInvalidValue,
                                    "cudaGetTextureObjectResourceDesc: the pointer for the result is NULL")
                   : emu_texture_info(resource, NULL, texture))
EMU_CUDA(cudaGetTextureObjectTextureDesc, (struct cudaTextureDesc * description, cudaTextureObject_t texture),
         !description ? emu_note_error(cudaErrorInvalidValue,
                                       "cudaGetTextureObjectTextureDesc: the pointer for the result is NULL")
                      : emu_texture_info(NULL, description, texture))
static inline __attribute__((unused)) struct cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    struct cudaChannelFormatDesc channels = {x, y, z, w, f};
    return channels;
}
// Symbols by their address. For C++, cuda_runtime.h overloads these functions for variables of any type.
EMU_CUDA(cudaMemcpyToSymbol,
         (const void *symbol, const void *from, size_t bytes, size_t offset EMU_OR(0),
          enum cudaMemcpyKind kind EMU_OR(cudaMemcpyHostToDevice)),
         emu_copy_symbol(symbol, 0, offset, (void *)(uintptr_t)from, bytes, (int)kind, 1, NULL, 0))
EMU_CUDA(cudaMemcpyToSymbolAsync,
         (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
          cudaStream_t stream EMU_OR(0)),
         emu_copy_symbol(symbol, 0, offset, (void *)(uintptr_t)from, bytes, (int)kind, 1, stream, 1))
EMU_CUDA(cudaMemcpyFromSymbol,
         (void *to, const void *symbol, size_t bytes, size_t offset EMU_OR(0),
          enum cudaMemcpyKind kind EMU_OR(cudaMemcpyDeviceToHost)),
         emu_copy_symbol(symbol, 0, offset, to, bytes, (int)kind, 0, NULL, 0))
EMU_CUDA(cudaMemcpyFromSymbolAsync,
         (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
          cudaStream_t stream EMU_OR(0)),
         emu_copy_symbol(symbol, 0, offset, to, bytes, (int)kind, 0, stream, 1))
EMU_CUDA(cudaGetSymbolAddress, (void **address, const void *symbol),
         !address ? emu_note_error(cudaErrorInvalidValue, "cudaGetSymbolAddress: the pointer for the result is NULL")
                  : emu_symbol(address, NULL, symbol, 0))
EMU_CUDA(cudaGetSymbolSize, (size_t * bytes, const void *symbol), emu_symbol(NULL, bytes, symbol, 0))

// Streams and events
EMU_CUDA(cudaStreamCreate, (cudaStream_t * stream), emu_stream_create((void **)stream, cudaStreamDefault, 0))
EMU_CUDA(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
         emu_stream_create((void **)stream, flags, 0))
EMU_CUDA(cudaStreamCreateWithPriority, (cudaStream_t * stream, unsigned flags, int priority),
         emu_stream_create((void **)stream, flags, priority))
EMU_CUDA(cudaStreamDestroy, (cudaStream_t stream), emu_stream_destroy(stream))
EMU_CUDA(cudaStreamSynchronize, (cudaStream_t stream), emu_stream_wait(stream, NULL, NULL))
EMU_CUDA(cudaStreamQuery, (cudaStream_t stream), emu_stream_query(stream))
EMU_CUDA(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags EMU_OR(0)),
         ((void)flags, emu_stream_wait_event(stream, event)))
EMU_CUDA(cudaStreamGetId, (cudaStream_t stream, unsigned long long *id), emu_stream_id(stream, id))
EMU_CUDA(cudaStreamGetFlags, (cudaStream_t stream, unsigned *flags), emu_stream_info(stream, flags, NULL, NULL))
EMU_CUDA(cudaStreamGetPriority, (cudaStream_t stream, int *priority), emu_stream_info(stream, NULL, priority, NULL))
EMU_CUDA(cudaStreamGetDevice, (cudaStream_t stream, int *device), emu_stream_info(stream, NULL, NULL, device))
EMU_CUDA(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *argument),
         emu_stream_call(stream, function, argument))
EMU_CUDA(cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t function, void *argument, unsigned flags),
         emu_stream_callback(stream, (void (*)(void))function, argument, flags))
EMU_CUDA(cudaEventCreate, (cudaEvent_t * event), emu_event_create((void **)event, cudaEventDefault))
EMU_CUDA(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), emu_event_create((void **)event, flags))
EMU_CUDA(cudaEventDestroy, (cudaEvent_t event), emu_event_destroy(event))
EMU_CUDA(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream EMU_OR(0)), emu_event_record(event, stream))
EMU_CUDA(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream EMU_OR(0), unsigned flags EMU_OR(0)),
         ((void)flags, emu_event_record(event, stream)))
EMU_CUDA(cudaEventQuery, (cudaEvent_t event), emu_event_query(event))
EMU_CUDA(cudaEventSynchronize, (cudaEvent_t event), emu_event_wait(event, NULL, NULL))
EMU_CUDA(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end),
         emu_event_elapsed(milliseconds, start, end))

// Kernels, by their handle (a cudaKernel_t) or the address of their host function. An address alone does not
// determine the kernel's parameters. The overloads of cuda_runtime.h, which take kernels of any type, register them.
// For a kernel that was never passed to one of these, cudaGetKernel, cudaFuncGetParamInfo and launches return an
// error.
EMU_CUDA(cudaGetKernel, (cudaKernel_t * kernel, const void *function),
         emu_get_kernel((void **)kernel, function, NULL))
static inline __attribute__((unused)) cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                                                      const void *function, void **arguments) {
    emu_launch launch;
    if (!config)
        return (cudaError_t)emu_note_error(cudaErrorInvalidValue,
                                           "the launch: the pointer to the configuration is NULL");
    launch.interface_version = EMU_INTERFACE_VERSION;
    launch.kernel = function;
    launch.arguments = arguments;
    launch.grid.x = config->gridDim.x, launch.grid.y = config->gridDim.y, launch.grid.z = config->gridDim.z;
    launch.block.x = config->blockDim.x, launch.block.y = config->blockDim.y, launch.block.z = config->blockDim.z;
    launch.dynamic_shared = config->dynamicSmemBytes;
    launch.stream = config->stream;
    launch.attributes = config->attrs;
    launch.attribute_count = config->numAttrs;
    return (cudaError_t)emu_launch_kernel(&launch);
}
static inline __attribute__((unused)) cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
                                                                   void **arguments, size_t shared EMU_OR(0),
                                                                   cudaStream_t stream EMU_OR(0)) {
    const cudaLaunchConfig_t config = {grid, block, shared, stream, NULL, 0};
    return cudaLaunchKernelExC(&config, function, arguments);
}
static inline __attribute__((unused)) cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid,
                                                                              dim3 block, void **arguments,
                                                                              size_t shared EMU_OR(0),
                                                                              cudaStream_t stream EMU_OR(0)) {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = {grid, block, shared, stream, &attribute, 1};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    return cudaLaunchKernelExC(&config, function, arguments);
}
EMU_CUDA(cudaFuncGetParamInfo, (const void *function, size_t index, size_t *offset, size_t *size),
         emu_function_parameter(offset, size, function, index))
EMU_CUDA(cudaFuncSetAttribute, (const void *function, enum cudaFuncAttribute attribute, int value),
         emu_function_set(function, (int)attribute, value))
EMU_CUDA(cudaFuncGetAttributes, (struct cudaFuncAttributes * attributes, const void *function),
         emu_function_attributes(attributes, sizeof *attributes, function))
EMU_CUDA(cudaFuncGetName, (const char **name, const void *function), emu_function_name(name, function))
EMU_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
         (int *blocks, const void *function, int block_size, size_t dynamic_shared),
         emu_occupancy(blocks, function, block_size, dynamic_shared))
EMU_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock,
         (size_t * bytes, const void *function, int blocks, int block_size),
         emu_occupancy_shared(bytes, function, blocks, block_size))

#include "emulator/api_settings.h"
#include "emulator/api_arrays.h"
#include "emulator/api_graph.h"

#ifdef __cplusplus
}
#endif
#endif

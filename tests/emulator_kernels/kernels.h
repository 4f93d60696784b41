// What every file of test kernels starts with: the runtime's functions under plain C names for ctypes, and a launch
// in one line. Python (tests/cuda_api.py) holds the memory; a file here holds kernels and one entry for each.
//
// The same file is built for the emulator as a user's would be (installed headers, a plain C++ compiler) and, where
// there is a GPU, by nvcc: nothing here may know which.
#pragma once

#include <cuda_runtime.h>

#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "device_extras.cuh"

#define ENTRY extern "C" __attribute__((visibility("default"))) int

// A launch's shape as Python passes it (tests/cuda_api.py: Shape has the same fields).
struct Shape {
    unsigned grid[3], block[3];
    size_t shared;
    cudaStream_t stream;
    int cooperative;
    unsigned cluster[3]; // blocks; 0: no cluster
};

// The configuration that a shape asks for. It holds its attributes, so it stays where it is made.
struct Config : cudaLaunchConfig_t {
    cudaLaunchAttribute attributes[2] = {};

    explicit Config(const Shape *shape) : cudaLaunchConfig_t() {
        gridDim = dim3(shape->grid[0], shape->grid[1], shape->grid[2]);
        blockDim = dim3(shape->block[0], shape->block[1], shape->block[2]);
        dynamicSmemBytes = shape->shared;
        stream = shape->stream;
        attrs = attributes;
        numAttrs = 0;
        if (shape->cooperative) {
            attributes[numAttrs].id = cudaLaunchAttributeCooperative;
            attributes[numAttrs++].val.cooperative = 1;
        }
        if (shape->cluster[0] != 0) {
            attributes[numAttrs].id = cudaLaunchAttributeClusterDimension;
            attributes[numAttrs].val.clusterDim.x = shape->cluster[0];
            attributes[numAttrs].val.clusterDim.y = shape->cluster[1];
            attributes[numAttrs++].val.clusterDim.z = shape->cluster[2];
        }
    }
    Config(const Config &) = delete;
};

template <typename... Parameters, typename... Arguments>
int launch(const Shape *shape, void (*kernel)(Parameters...), Arguments... arguments) {
    const Config config(shape);
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// --- the runtime, by name
// ---------------------------------------------------------------------------------------------
ENTRY api_device_count(int *count) {
    return cudaGetDeviceCount(count);
}
ENTRY api_get_device(int *device) {
    return cudaGetDevice(device);
}
ENTRY api_set_device(int device) {
    return cudaSetDevice(device);
}
ENTRY api_attribute(int *value, int attribute, int device) {
    return cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device);
}
ENTRY api_synchronize() {
    return cudaDeviceSynchronize();
}
ENTRY api_last_error() {
    return cudaGetLastError();
}
ENTRY api_peek_error() {
    return cudaPeekAtLastError();
}
extern "C" __attribute__((visibility("default"))) const char *api_error_name(int code) {
    return cudaGetErrorName((cudaError_t)code);
}
extern "C" __attribute__((visibility("default"))) const char *api_error_string(int code) {
    return cudaGetErrorString((cudaError_t)code);
}
ENTRY api_versions(int *driver, int *runtime) {
    int code = cudaDriverGetVersion(driver);
    return code ? code : cudaRuntimeGetVersion(runtime);
}
ENTRY api_memory_info(size_t *available, size_t *total) {
    return cudaMemGetInfo(available, total);
}

ENTRY api_malloc(void **pointer, size_t bytes) {
    return cudaMalloc(pointer, bytes);
}
ENTRY api_free(void *pointer) {
    return cudaFree(pointer);
}
ENTRY api_malloc_pitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch(pointer, pitch, width, height);
}
ENTRY api_malloc_host(void **pointer, size_t bytes) {
    return cudaMallocHost(pointer, bytes);
}
ENTRY api_host_alloc(void **pointer, size_t bytes, unsigned flags) {
    return cudaHostAlloc(pointer, bytes, flags);
}
ENTRY api_host_register(void *pointer, size_t bytes, unsigned flags) {
    return cudaHostRegister(pointer, bytes, flags);
}
ENTRY api_host_unregister(void *pointer) {
    return cudaHostUnregister(pointer);
}
ENTRY api_host_device_pointer(void **device, void *host, unsigned flags) {
    return cudaHostGetDevicePointer(device, host, flags);
}
ENTRY api_free_host(void *pointer) {
    return cudaFreeHost(pointer);
}
ENTRY api_malloc_async(void **pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(pointer, bytes, stream);
}
ENTRY api_free_async(void *pointer, cudaStream_t stream) {
    return cudaFreeAsync(pointer, stream);
}
ENTRY api_copy(void *to, const void *from, size_t bytes, int kind) {
    return cudaMemcpy(to, from, bytes, (cudaMemcpyKind)kind);
}
ENTRY api_copy_async(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream) {
    return cudaMemcpyAsync(to, from, bytes, (cudaMemcpyKind)kind, stream);
}
ENTRY api_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                  int kind) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, (cudaMemcpyKind)kind);
}
ENTRY api_copy_2d_async(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                        int kind, cudaStream_t stream) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, (cudaMemcpyKind)kind, stream);
}
ENTRY api_copy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    return cudaMemcpyPeer(to, to_device, from, from_device, bytes);
}
ENTRY api_copy_peer_async(void *to, int to_device, const void *from, int from_device, size_t bytes,
                          cudaStream_t stream) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
}
ENTRY api_can_access_peer(int *can, int device, int peer) {
    return cudaDeviceCanAccessPeer(can, device, peer);
}
ENTRY api_enable_peer(int peer, unsigned flags) {
    return cudaDeviceEnablePeerAccess(peer, flags);
}
ENTRY api_disable_peer(int peer) {
    return cudaDeviceDisablePeerAccess(peer);
}
ENTRY api_set(void *pointer, int value, size_t bytes) {
    return cudaMemset(pointer, value, bytes);
}
ENTRY api_set_async(void *pointer, int value, size_t bytes, cudaStream_t stream) {
    return cudaMemsetAsync(pointer, value, bytes, stream);
}
ENTRY api_set_2d_async(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    return cudaMemset2DAsync(pointer, pitch, value, width, height, stream);
}
ENTRY api_pointer(const void *pointer, int *type, int *device, void **on_device, void **on_host) {
    cudaPointerAttributes attributes;
    int code = cudaPointerGetAttributes(&attributes, pointer);
    if (code != cudaSuccess) return code;
    *type = attributes.type, *device = attributes.device;
    *on_device = attributes.devicePointer, *on_host = attributes.hostPointer;
    return code;
}

ENTRY api_stream_flags(cudaStream_t *stream, unsigned flags) {
    return cudaStreamCreateWithFlags(stream, flags);
}
ENTRY api_stream_get_flags(cudaStream_t stream, unsigned *flags) {
    return cudaStreamGetFlags(stream, flags);
}
ENTRY api_stream_id(unsigned long long *id, cudaStream_t stream) {
    return cudaStreamGetId(stream, id);
}
ENTRY api_stream_destroy(cudaStream_t stream) {
    return cudaStreamDestroy(stream);
}
ENTRY api_stream_synchronize(cudaStream_t stream) {
    return cudaStreamSynchronize(stream);
}
ENTRY api_stream_query(cudaStream_t stream) {
    return cudaStreamQuery(stream);
}
ENTRY api_stream_wait(cudaStream_t stream, cudaEvent_t event) {
    return cudaStreamWaitEvent(stream, event, 0);
}
ENTRY api_event(cudaEvent_t *event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}
ENTRY api_event_destroy(cudaEvent_t event) {
    return cudaEventDestroy(event);
}
ENTRY api_event_record(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecord(event, stream);
}
ENTRY api_event_synchronize(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}
ENTRY api_event_query(cudaEvent_t event) {
    return cudaEventQuery(event);
}
ENTRY api_event_elapsed(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    return cudaEventElapsedTime(milliseconds, from, to);
}

// Kernels of any library, by their handles or addresses.
ENTRY api_get_kernel(cudaKernel_t *handle, const void *kernel) {
    return cudaGetKernel(handle, kernel);
}
ENTRY api_launch(const Shape *shape, const void *kernel, void **arguments) {
    const Config config(shape);
    return cudaLaunchKernelExC(&config, kernel, arguments);
}
ENTRY api_function_set(const void *kernel, int attribute, int value) {
    return cudaFuncSetAttribute(kernel, (cudaFuncAttribute)attribute, value);
}
ENTRY api_function_attributes(const void *kernel, int *threads, int *dynamic_shared) {
    cudaFuncAttributes attributes;
    int code = cudaFuncGetAttributes(&attributes, kernel);
    if (code != cudaSuccess) return code;
    *threads = attributes.maxThreadsPerBlock, *dynamic_shared = attributes.maxDynamicSharedSizeBytes;
    return code;
}
ENTRY api_function_name(const char **name, const void *kernel) {
    return cudaFuncGetName(name, kernel);
}
ENTRY api_function_parameter(const void *kernel, size_t index, size_t *offset, size_t *size) {
    return cudaFuncGetParamInfo(kernel, index, offset, size);
}
ENTRY api_occupancy(int *blocks, const void *kernel, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}
ENTRY api_occupancy_block(int *sizes, const void *kernel, size_t shared, int limit) {
    return cudaOccupancyMaxPotentialBlockSize(&sizes[0], &sizes[1], kernel, shared, limit);
}
ENTRY api_occupancy_shared(size_t *bytes, const void *kernel, int blocks, int threads) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, blocks, threads);
}

// --- beyond CUDA's names: backend.h
// ---------------------------------------------------------------------------------
extern "C" __attribute__((visibility("default"))) const char *seam_name() {
    return backend_name();
}
ENTRY seam_emulated() {
    return backend_is_emulated();
}
ENTRY seam_wait(cudaStream_t stream, int (*interrupted)(void *), void *argument) {
    return backend_wait(stream, interrupted, argument);
}
ENTRY seam_wait_device(int (*interrupted)(void *), void *argument) {
    return backend_wait_device(interrupted, argument);
}
ENTRY seam_wait_event(cudaEvent_t event, int (*interrupted)(void *), void *argument) {
    return backend_wait_event(event, interrupted, argument);
}
ENTRY seam_settle() {
    return backend_settle();
}
ENTRY seam_wait_can_be_interrupted() {
    return backend_wait_can_be_interrupted();
}
ENTRY seam_memory_is_host() {
    return backend_memory_is_host();
}
ENTRY seam_detail(char *buffer, size_t size) {
    return (int)backend_error_detail(buffer, size);
}
ENTRY seam_configure(const char *key, const char *value) {
    return backend_configure(key, value);
}

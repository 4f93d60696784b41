// Overloads that C++ programs expect: pointers of any type, channels by a type, and the parameters of CUDA 12.
#ifndef EMULATOR_API_TYPED_H
#define EMULATOR_API_TYPED_H

#include "../cuda_runtime_api.h"
#include "device_texture.h"

#define EMU_TYPED(name, parameters, ...)                                                                             \
    template <typename T> inline cudaError_t name parameters {                                                       \
        return name(static_cast<void **>(static_cast<void *>(pointer)), __VA_ARGS__);                                \
    }
EMU_TYPED(cudaMalloc, (T * *pointer, size_t bytes), bytes)
EMU_TYPED(cudaMallocManaged, (T * *pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal), bytes, flags)
EMU_TYPED(cudaHostAlloc, (T * *pointer, size_t bytes, unsigned flags), bytes, flags)
EMU_TYPED(cudaHostGetDevicePointer, (T * *pointer, void *host, unsigned flags), host, flags)
EMU_TYPED(cudaMallocAsync, (T * *pointer, size_t bytes, cudaStream_t stream), bytes, stream)
EMU_TYPED(cudaMallocFromPoolAsync, (T * *pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream), bytes, pool,
          stream)
EMU_TYPED(cudaMallocPitch, (T * *pointer, size_t *pitch, size_t width, size_t height), pitch, width, height)
#undef EMU_TYPED
template <typename T>
inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = cudaHostAllocDefault) {
    return cudaHostAlloc(pointer, bytes, flags);
}
inline cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <typename T>
inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}

// CUDA 12 had a device's number (or cudaCpuDeviceId) where CUDA 13 has a location.
namespace emu {
inline cudaMemLocation location(int device) {
    return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}
} // namespace emu
inline cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, bytes, advice, emu::location(device));
}
inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                        cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(pointer, bytes, emu::location(device), 0, stream);
}
template <typename T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer, size_t bytes = 0,
                                            unsigned flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, const_cast<void *>(static_cast<const volatile void *>(pointer)), bytes,
                                    flags);
}

// The channels of a type: float4, uchar2, short, ...
template <typename T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    using element = typename emu::texel<T>::element;
    constexpr int channels = emu::texel<T>::channels, bits = 8 * sizeof(element);
    static_assert(std::is_arithmetic<element>::value, "textures do not support elements of this type");
    return cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                 std::is_floating_point<element>::value ? cudaChannelFormatKindFloat
                                 : std::is_signed<element>::value       ? cudaChannelFormatKindSigned
                                                                        : cudaChannelFormatKindUnsigned);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc &channels, size_t width,
                                   size_t height = 0, unsigned flags = 0) {
    return cudaMallocArray(array, &channels, width, height, flags);
}

#endif

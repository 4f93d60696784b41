// Textures by reference, which CUDA had until version 11: a global `texture<float, 2, cudaReadModeElementType> name;`
// that a program binds to memory. Each is a texture object here, made when it is bound.
//
// Not a part of cuda_runtime.h, except with EMULATOR_TEXTURE_REFERENCES, because newer programs may use the name.
#ifndef EMULATOR_DEVICE_TEXTURE_REFERENCE_H
#define EMULATOR_DEVICE_TEXTURE_REFERENCE_H

#include "../cuda_runtime_api.h"
#include "api_typed.h"
#include "device_texture.h"

#define cudaTextureType1D        0x01
#define cudaTextureType2D        0x02
#define cudaTextureType3D        0x03
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2

struct textureReference {
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
    cudaTextureReadMode readMode;           // of the type
    mutable cudaTextureObject_t object = 0; // what it is bound to; 0: nothing
};

template <typename T, int Type = cudaTextureType1D, cudaTextureReadMode Mode = cudaReadModeElementType>
struct texture : textureReference {
    texture(int is_normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
            cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(is_normalized, filter, address, cudaCreateChannelDesc<T>()) {}
    texture(int is_normalized, cudaTextureFilterMode filter, cudaTextureAddressMode address, cudaChannelFormatDesc of)
        : textureReference{is_normalized, filter, {address, address, address}, of, Mode} {}
};

namespace emu {
// What a read returns: T, or with normalized floats, as many floats.
template <typename T, cudaTextureReadMode Mode, int Channels = texel<T>::channels> struct read_as { using type = T; };
template <typename T> struct read_as<T, cudaReadModeNormalizedFloat, 1> {
    using type = std::conditional_t<std::is_arithmetic<T>::value, float, float1>;
};
template <typename T> struct read_as<T, cudaReadModeNormalizedFloat, 2> { using type = float2; };
template <typename T> struct read_as<T, cudaReadModeNormalizedFloat, 4> { using type = float4; };

inline cudaError_t bind(const textureReference &to, const cudaResourceDesc &resource) {
    cudaTextureDesc description = {};
    for (int i = 0; i < 3; ++i) description.addressMode[i] = to.addressMode[i];
    description.filterMode = to.filterMode;
    description.readMode = to.readMode;
    description.normalizedCoords = to.normalized;
    if (to.object) cudaDestroyTextureObject(to.object);
    to.object = 0;
    return cudaCreateTextureObject(&to.object, &resource, &description, nullptr);
}
} // namespace emu

inline cudaError_t cudaBindTexture(size_t *offset, const textureReference &to, const void *pointer,
                                   const cudaChannelFormatDesc &channels, size_t bytes = 0xffffffff) {
    void *begin;
    size_t all;
    const int code = emu_address_range(&begin, &all, pointer);
    if (code) return static_cast<cudaError_t>(code);
    const size_t left = all - static_cast<size_t>(static_cast<const char *>(pointer) - static_cast<char *>(begin));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void *>(pointer);
    resource.res.linear.desc = channels;
    resource.res.linear.sizeInBytes = bytes == 0xffffffff || bytes > left ? left : bytes;
    if (offset) *offset = 0;
    return emu::bind(to, resource);
}
inline cudaError_t cudaBindTexture(size_t *offset, const textureReference &to, const void *pointer,
                                   size_t bytes = 0xffffffff) {
    return cudaBindTexture(offset, to, pointer, to.channelDesc, bytes);
}
inline cudaError_t cudaBindTexture2D(size_t *offset, const textureReference &to, const void *pointer,
                                     const cudaChannelFormatDesc &channels, size_t width, size_t height,
                                     size_t pitch) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void *>(pointer);
    resource.res.pitch2D.desc = channels;
    resource.res.pitch2D.width = width, resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    if (offset) *offset = 0;
    return emu::bind(to, resource);
}
inline cudaError_t cudaBindTexture2D(size_t *offset, const textureReference &to, const void *pointer, size_t width,
                                     size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, to, pointer, to.channelDesc, width, height, pitch);
}
inline cudaError_t cudaBindTextureToArray(const textureReference &to, cudaArray_const_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return emu::bind(to, resource);
}
inline cudaError_t cudaBindTextureToArray(const textureReference &to, cudaArray_const_t array,
                                          const cudaChannelFormatDesc &) {
    return cudaBindTextureToArray(to, array);
}
inline cudaError_t cudaUnbindTexture(const textureReference &of) {
    const cudaError_t code = cudaDestroyTextureObject(of.object);
    of.object = 0;
    return code;
}

// The same as C has them.
inline cudaError_t cudaBindTexture(size_t *offset, const textureReference *to, const void *pointer,
                                   const cudaChannelFormatDesc *channels, size_t bytes = 0xffffffff) {
    return cudaBindTexture(offset, *to, pointer, *channels, bytes);
}
inline cudaError_t cudaBindTexture2D(size_t *offset, const textureReference *to, const void *pointer,
                                     const cudaChannelFormatDesc *channels, size_t width, size_t height,
                                     size_t pitch) {
    return cudaBindTexture2D(offset, *to, pointer, *channels, width, height, pitch);
}
inline cudaError_t cudaBindTextureToArray(const textureReference *to, cudaArray_const_t array,
                                          const cudaChannelFormatDesc *) {
    return cudaBindTextureToArray(*to, array);
}
inline cudaError_t cudaUnbindTexture(const textureReference *of) {
    return cudaUnbindTexture(*of);
}

// Reads
#define EMU_BY_REFERENCE(name, parameters, ...)                                                                      \
    template <typename T, cudaTextureReadMode Mode>                                                                  \
    __device__ __forceinline__ typename emu::read_as<T, Mode>::type name parameters {                                \
        return name<typename emu::read_as<T, Mode>::type>(of.object, __VA_ARGS__, file, line);                       \
    }
#define EMU_OF(Type) const texture<T, Type, Mode> &of
EMU_BY_REFERENCE(tex1Dfetch, (EMU_OF(cudaTextureType1D), int x, EMU_SITE), x)
EMU_BY_REFERENCE(tex1D, (EMU_OF(cudaTextureType1D), float x, EMU_SITE), x)
EMU_BY_REFERENCE(tex2D, (EMU_OF(cudaTextureType2D), float x, float y, EMU_SITE), x, y)
EMU_BY_REFERENCE(tex3D, (EMU_OF(cudaTextureType3D), float x, float y, float z, EMU_SITE), x, y, z)
EMU_BY_REFERENCE(tex1DLayered, (EMU_OF(cudaTextureType1DLayered), float x, int layer, EMU_SITE), x, layer)
EMU_BY_REFERENCE(tex2DLayered, (EMU_OF(cudaTextureType2DLayered), float x, float y, int layer, EMU_SITE), x, y, layer)
#undef EMU_BY_REFERENCE
#undef EMU_OF

#endif

// Texture reads for CUDA's element types, implemented by the core's emu_texture_read.
//
// The template argument must match the texture: a type of floats if it returns floats (float textures, and integers
// read as normalized floats), a type of integers otherwise, and with at most as many channels as the texture has. On
// a GPU, another type gives garbage; here it is an error with kernel, line, block and thread.
#ifndef EMULATOR_DEVICE_TEXTURE_H
#define EMULATOR_DEVICE_TEXTURE_H

#include <string.h>

#include <type_traits>

#include "device_core.h"
#include "device_qualifiers.h"
#include "../texture_types.h"
#include "../vector_types.h"

namespace emu {

template <typename T> struct texel {
    using element = T;
    static constexpr int channels = 1;
};
#define EMU_TEXELS(name, type)                                                                                       \
    template <> struct texel<name##1> {                                                                              \
        using element = type;                                                                                        \
        static constexpr int channels = 1;                                                                           \
    };                                                                                                               \
    template <> struct texel<name##2> {                                                                              \
        using element = type;                                                                                        \
        static constexpr int channels = 2;                                                                           \
    };                                                                                                               \
    template <> struct texel<name##4> {                                                                              \
        using element = type;                                                                                        \
        static constexpr int channels = 4;                                                                           \
    };
EMU_TEXELS(char, signed char)
EMU_TEXELS(uchar, unsigned char)
EMU_TEXELS(short, short)
EMU_TEXELS(ushort, unsigned short)
EMU_TEXELS(int, int)
EMU_TEXELS(uint, unsigned int)
EMU_TEXELS(float, float)
#undef EMU_TEXELS

template <typename T>
__forceinline__ T read_texture(cudaTextureObject_t texture, int axes, const float *at, int index, const char *file,
                               int line) {
    using element = typename texel<T>::element;
    constexpr int channels = texel<T>::channels;
    static_assert(sizeof(element) <= 4 && std::is_arithmetic<element>::value,
                  "textures do not support elements of this type");
    uint32_t words[4];
    emu_texture_read(texture, axes, at, index, std::is_same<element, float>::value, channels, words, file, line);
    element elements[channels];
    for (int i = 0; i < channels; ++i) {
        if constexpr (std::is_same<element, float>::value)
            __builtin_memcpy(&elements[i], &words[i], sizeof(float));
        else
            elements[i] = static_cast<element>(words[i]);
    }
    T result;
    static_assert(sizeof result == sizeof elements, "a vector must consist of its elements without padding");
    __builtin_memcpy(&result, elements, sizeof result);
    return result;
}

} // namespace emu

template <typename T> __device__ __forceinline__ T tex1Dfetch(cudaTextureObject_t texture, int x, EMU_SITE) {
    return emu::read_texture<T>(texture, 0, nullptr, x, file, line);
}
template <typename T> __device__ __forceinline__ T tex1D(cudaTextureObject_t texture, float x, EMU_SITE) {
    return emu::read_texture<T>(texture, 1, &x, 0, file, line);
}
template <typename T> __device__ __forceinline__ T tex2D(cudaTextureObject_t texture, float x, float y, EMU_SITE) {
    const float at[2] = {x, y};
    return emu::read_texture<T>(texture, 2, at, 0, file, line);
}
template <typename T>
__device__ __forceinline__ T tex3D(cudaTextureObject_t texture, float x, float y, float z, EMU_SITE) {
    const float at[3] = {x, y, z};
    return emu::read_texture<T>(texture, 3, at, 0, file, line);
}

// Of layered arrays; a cubemap has six layers, its faces.
template <typename T>
__device__ __forceinline__ T tex1DLayered(cudaTextureObject_t texture, float x, int layer, EMU_SITE) {
    return emu::read_texture<T>(texture, 1 | EMU_LAYERED, &x, layer, file, line);
}
template <typename T>
__device__ __forceinline__ T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer, EMU_SITE) {
    const float at[2] = {x, y};
    return emu::read_texture<T>(texture, 2 | EMU_LAYERED, at, layer, file, line);
}
// The face is that of the coordinate with the largest size, and the other two, divided by it, are the place there
// (CUDA C++ Programming Guide, "Cubemap Textures").
template <typename T>
__device__ __forceinline__ T texCubemapLayered(cudaTextureObject_t texture, float x, float y, float z, int layer,
                                               EMU_SITE) {
    const float sizes[3] = {x < 0 ? -x : x, y < 0 ? -y : y, z < 0 ? -z : z};
    const int axis = sizes[0] >= sizes[1] && sizes[0] >= sizes[2] ? 0 : sizes[1] >= sizes[2] ? 1 : 2;
    const bool back = (axis == 0 ? x : axis == 1 ? y : z) < 0;
    const float s = axis == 0 ? (back ? z : -z) : axis == 1 ? x : back ? -x : x;
    const float t = axis == 1 ? (back ? -z : z) : -y;
    const float at[2] = {(s / sizes[axis] + 1) / 2, (t / sizes[axis] + 1) / 2};
    return emu::read_texture<T>(texture, 2 | EMU_LAYERED, at, 6 * layer + 2 * axis + back, file, line);
}
template <typename T>
__device__ __forceinline__ T texCubemap(cudaTextureObject_t texture, float x, float y, float z, EMU_SITE) {
    return texCubemapLayered<T>(texture, x, y, z, 0, file, line);
}

// The same with a place for the result.
template <typename T>
__device__ __forceinline__ void tex1Dfetch(T *result, cudaTextureObject_t texture, int x, EMU_SITE) {
    *result = tex1Dfetch<T>(texture, x, file, line);
}
template <typename T>
__device__ __forceinline__ void tex1D(T *result, cudaTextureObject_t texture, float x, EMU_SITE) {
    *result = tex1D<T>(texture, x, file, line);
}
template <typename T>
__device__ __forceinline__ void tex2D(T *result, cudaTextureObject_t texture, float x, float y, EMU_SITE) {
    *result = tex2D<T>(texture, x, y, file, line);
}
template <typename T>
__device__ __forceinline__ void tex3D(T *result, cudaTextureObject_t texture, float x, float y, float z, EMU_SITE) {
    *result = tex3D<T>(texture, x, y, z, file, line);
}

#endif

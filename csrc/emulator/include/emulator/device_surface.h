// Surfaces: arrays that kernels read and write by coordinates. The first one counts bytes.
#ifndef EMULATOR_DEVICE_SURFACE_H
#define EMULATOR_DEVICE_SURFACE_H

#include "device_core.h"
#include "device_qualifiers.h"
#include "../texture_types.h"

namespace emu {
template <typename T>
__forceinline__ T *surface_at(cudaSurfaceObject_t surface, int axes, int x, int y, int z,
                              cudaSurfaceBoundaryMode mode, const char *file, int line) {
    return static_cast<T *>(emu_surface_at(surface, axes, x, y, z, sizeof(T), mode, file, line));
}
} // namespace emu

// `coordinates` are the parameters' names, `at` the three that the core takes.
#define EMU_SURFACE(name, axes, parameters, coordinates, at_x, at_y, at_z)                                           \
    template <typename T>                                                                                            \
    __device__ __forceinline__ T name##read(cudaSurfaceObject_t surface, EMU_UNPACK parameters,                      \
                                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, EMU_SITE) {         \
        const T *const at = emu::surface_at<T>(surface, axes, at_x, at_y, at_z, mode, file, line);                   \
        return at ? *at : T();                                                                                       \
    }                                                                                                                \
    template <typename T>                                                                                            \
    __device__ __forceinline__ void name##read(T *result, cudaSurfaceObject_t surface, EMU_UNPACK parameters,        \
                                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, EMU_SITE) {      \
        *result = name##read<T>(surface, EMU_UNPACK coordinates, mode, file, line);                                  \
    }                                                                                                                \
    template <typename T>                                                                                            \
    __device__ __forceinline__ void name##write(T value, cudaSurfaceObject_t surface, EMU_UNPACK parameters,         \
                                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, EMU_SITE) {     \
        T *const at = emu::surface_at<T>(surface, axes, at_x, at_y, at_z, mode, file, line);                         \
        if (at) *at = value;                                                                                         \
    }
#define EMU_UNPACK(...) __VA_ARGS__
EMU_SURFACE(surf1D, 1, (int x), (x), x, 0, 0)
EMU_SURFACE(surf2D, 2, (int x, int y), (x, y), x, y, 0)
EMU_SURFACE(surf3D, 3, (int x, int y, int z), (x, y, z), x, y, z)
EMU_SURFACE(surf1DLayered, 1 | EMU_LAYERED, (int x, int layer), (x, layer), x, 0, layer)
EMU_SURFACE(surf2DLayered, 2 | EMU_LAYERED, (int x, int y, int layer), (x, y, layer), x, y, layer)
EMU_SURFACE(surfCubemap, 2 | EMU_LAYERED, (int x, int y, int face), (x, y, face), x, y, face)
#undef EMU_UNPACK
#undef EMU_SURFACE

#endif

// A texture as a fetch needs it: created by texture.c and read by texel.c.
#ifndef EMULATOR_TEXTURE_H
#define EMULATOR_TEXTURE_H

#include "cuda_runtime_api.h"

typedef enum emu_format {
    EMU_SIGNED_8,
    EMU_SIGNED_16,
    EMU_SIGNED_32,
    EMU_UNSIGNED_8,
    EMU_UNSIGNED_16,
    EMU_UNSIGNED_32,
    EMU_FLOAT_16,
    EMU_FLOAT_32
} emu_format;

typedef struct emu_texture {
    const char *data;
    size_t element, pitch, slice; // bytes per element, from row to row, from plane to plane
    size_t extent[3];             // elements: columns, rows, planes
    int axes;                     // 0: linear memory, for tex1Dfetch only; those of one layer
    size_t layers;                // 0: the array is not layered
    int is_surface;
    int channels;
    emu_format format;
    int gives_float, linear, normalized;
    enum cudaTextureAddressMode address[3];
    float border[4];
} emu_texture;

// For device code; takes no lock. NULL: the handle was never a texture's, or the texture has been destroyed.
const emu_texture *emu_find_texture(uint64_t handle);

#endif

// lookup_2d "texture": comes after "global_memory".
//
// Change  The table is a texture: the hardware finds the four elements, handles the edges and interpolates.
// Why     One instruction per value. The array is stored in small squares, so that neighbors along both axes are
//         close together in the cache.
// Claim   reads per value: 1 (before: 4)
// Price   The weights have 8 fractional bits and are rounded four times: each rounding moves at most 2^-9 of the
//         weight from one element to another. Where the table repeats, coordinates are divided by its length. float32
//         only. The table is copied first.
// Edges   the hardware's; a NaN coordinate, for which it would return some element, is checked
// Map     value i: thread i % grid_threads()
// Limit   the precision, and the rate of the texture units: one read of four elements per clock and unit
#ifndef CK_LOOKUP_2D_TEXTURE_CUH
#define CK_LOOKUP_2D_TEXTURE_CUH

#include "../lookup.cuh"

namespace lookup_2d {

__global__ void __launch_bounds__(1024)
    texture(cudaTextureObject_t table, const float *__restrict__ y, const float *__restrict__ x,
            float *__restrict__ result, int64_t points, int64_t rows, int64_t columns, int mode) {
    const int normalized = mode == LOOKUP_WRAP || mode == LOOKUP_MIRROR;
    for (int64_t i = grid_thread(); i < points; i += grid_threads()) {
        const float down = y[i], across = x[i];
        result[i] = lookup_is_known(down, mode) && lookup_is_known(across, mode)
                        ? tex2D<float>(table, texture_place(across, columns, normalized),
                                       texture_place(down, rows, normalized))
                        : NAN;
    }
}

} // namespace lookup_2d

#endif

// rgba_to_float "texture": comes after "packed".
//
// Change  The image is a texture with four bytes per element, read as normalized floats: the hardware divides.
// Why     One read returns four floats, and the conversion takes no instructions.
// Claim   divisions per pixel: 0 (before: 4)
// Price   The image is copied to a CUDA array first. The rounding of the hardware is not documented.
// Edges   An empty image has no texture, and no thread reads it.
// Map     pixel p: thread p % grid_threads(); column p % columns, row p / columns
// Limit   memory bandwidth: 4 bytes in and 16 bytes out per pixel
#ifndef CK_RGBA_TO_FLOAT_TEXTURE_CUH
#define CK_RGBA_TO_FLOAT_TEXTURE_CUH

#include "bytes.cuh"

namespace rgba_to_float {

__global__ void __launch_bounds__(1024)
    texture(cudaTextureObject_t image, float *__restrict__ result, int64_t pixels, int64_t columns) {
    const bool whole = reinterpret_cast<uintptr_t>(result) % sizeof(float4) == 0;
    for (int64_t p = grid_thread(); p < pixels; p += grid_threads()) {
        const int64_t row = p / columns, column = p - row * columns;
        const float4 pixel = tex2D<float4>(image, static_cast<float>(column) + 0.5f, static_cast<float>(row) + 0.5f);
        if (whole) {
            reinterpret_cast<float4 *>(result)[p] = pixel;
        } else {
            float *const to = result + CHANNELS * p;
            to[0] = pixel.x, to[1] = pixel.y, to[2] = pixel.z, to[3] = pixel.w;
        }
    }
}

} // namespace rgba_to_float

#endif

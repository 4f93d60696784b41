// rgba_to_float "texture": comes after "packed".
//
// Change  The image is a texture of four bytes an element, read as normalized floats: the hardware divides.
// Why     One read gives four floats; no instruction for the conversion.
// Claim   divisions: 0 (before: 4 a pixel)
// Price   the image is copied into an array first; how the hardware rounds is not documented
// Edges   an empty image has no texture, and no thread reads it
// Map     pixel p: thread p % grid_threads(); column p % columns, row p / columns
// Limit   the memory: 4 bytes in and 16 out a pixel
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

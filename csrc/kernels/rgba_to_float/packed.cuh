// rgba_to_float "packed": comes after "bytes".
//
// Change  The four bytes of a pixel are one load, and its four floats are one store.
// Why     fewer requests for the same bytes
// Claim   load requests per pixel: 1 (before: 4); store requests per pixel: 1 (before: 4)
// Price   An image that is not aligned to words is processed byte by byte, as before.
// Edges   as before
// Map     pixel p: thread p % grid_threads()
// Limit   the divisions: "texture" has none
#ifndef CK_RGBA_TO_FLOAT_PACKED_CUH
#define CK_RGBA_TO_FLOAT_PACKED_CUH

#include "bytes.cuh"

namespace rgba_to_float {

__global__ void __launch_bounds__(1024)
    packed(const unsigned char *__restrict__ image, float *__restrict__ result, int64_t pixels) {
    const bool whole = reinterpret_cast<uintptr_t>(image) % sizeof(uchar4) == 0 &&
                       reinterpret_cast<uintptr_t>(result) % sizeof(float4) == 0;
    for (int64_t p = grid_thread(); p < pixels; p += grid_threads()) {
        if (whole) {
            const uchar4 pixel = reinterpret_cast<const uchar4 *>(image)[p];
            reinterpret_cast<float4 *>(result)[p] =
                make_float4(share(pixel.x), share(pixel.y), share(pixel.z), share(pixel.w));
        } else {
            for (int c = 0; c < CHANNELS; ++c) result[CHANNELS * p + c] = share(image[CHANNELS * p + c]);
        }
    }
}

} // namespace rgba_to_float

#endif

// rgba_to_float "bytes": the first kernel of the ladder.
//
// Idea    One thread per pixel: it loads four bytes, divides each by 255, and stores four floats, one at a time.
// Claim   load requests per pixel: 4, of one byte each; store requests per pixel: 4
// Price   Each of the four divisions by a constant takes a few instructions.
// Edges   The loop condition handles the end of the image.
// Map     pixel p: thread p % grid_threads()
// Limit   eight requests for 20 bytes: see "packed"
#ifndef CK_RGBA_TO_FLOAT_BYTES_CUH
#define CK_RGBA_TO_FLOAT_BYTES_CUH

#include "../grid.cuh"

namespace rgba_to_float {

enum { CHANNELS = 4 };

__device__ __forceinline__ float share(unsigned char byte) {
    return static_cast<float>(byte) / 255.0f;
}

__global__ void __launch_bounds__(1024)
    bytes(const unsigned char *__restrict__ image, float *__restrict__ result, int64_t pixels) {
    for (int64_t p = grid_thread(); p < pixels; p += grid_threads())
        for (int c = 0; c < CHANNELS; ++c) result[CHANNELS * p + c] = share(image[CHANNELS * p + c]);
}

} // namespace rgba_to_float

#endif

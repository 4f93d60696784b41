// The arguments of a grayscale kernel, and the luminance of a pixel.
//
// Pixels may have any layout in memory: strides are in bytes, and in the image they may be 0 (broadcast) or negative
// (read backwards). A fourth channel, alpha, does not affect the result.
#ifndef CK_GRAYSCALE_PIXELS_CUH
#define CK_GRAYSCALE_PIXELS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace grayscale {

// 0.21 r + 0.72 g + 0.07 b, rounded to nearest, halves up. Computed in hundredths, it is exact, and the same on every
// machine. The weights add up to 100, so white remains 255.
__device__ __forceinline__ uint8_t luminance(uint32_t red, uint32_t green, uint32_t blue) {
    return static_cast<uint8_t>((21 * red + 72 * green + 7 * blue + 50) / 100);
}

struct picture {
    const uint8_t *data;
    int64_t row_stride, column_stride, channel_stride;
    uint8_t *gray;
    int64_t gray_row_stride, gray_column_stride;
    int64_t height, width;

    __device__ __forceinline__ const uint8_t *pixel(int64_t row, int64_t column) const {
        return data + row * row_stride + column * column_stride;
    }
    __device__ __forceinline__ uint8_t *gray_pixel(int64_t row, int64_t column) const {
        return gray + row * gray_row_stride + column * gray_column_stride;
    }
};

} // namespace grayscale

#endif

// grayscale "naive": the first kernel of the ladder.
//
// Idea    One thread per pixel, with the pixels numbered row by row.
// Claim   load requests per pixel: 3, of one byte per thread; words are moved once, but in small pieces
// Price   one 64-bit division per pixel to find its row: more work than the luminance itself
// Edges   The last block has threads beyond the image: `if (i < pixels)` keeps them out.
// Map     i = blockIdx.x * blockDim.x + threadIdx.x, row = i / width, column = i % width
// Limit   the division: "blocks_2d" has row and column from the start
#ifndef CK_GRAYSCALE_NAIVE_CUH
#define CK_GRAYSCALE_NAIVE_CUH

#include "../grid.cuh"
#include "pixels.cuh"

namespace grayscale {

__global__ void __launch_bounds__(1024) naive(const picture image) {
    const int64_t i = grid_thread();
    if (i >= image.height * image.width) return;
    const int64_t row = i / image.width, column = i - row * image.width;
    const uint8_t *const from = image.pixel(row, column);
    *image.gray_pixel(row, column) = luminance(from[0], from[image.channel_stride], from[2 * image.channel_stride]);
}

} // namespace grayscale

#endif

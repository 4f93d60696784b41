// grayscale "blocks_2d": comes after "naive".
//
// Change  Blocks are squares and the grid has the shape of the image: the position of a thread is the position of its
//         pixel.
// Why     The hardware counts in two dimensions by itself, so no thread divides. An H200 is slower all the same,
//         because a warp covers two short pieces of rows instead of one long piece.
// Claim   divisions to find a pixel: none (before: one per pixel)
// Price   Squares extend beyond two edges of the image instead of one: 76 x 62 pixels take 80 x 64 threads.
// Edges   There are four kinds of blocks. Inside the image all threads work; at the right edge, at the bottom edge
//         and in the corner each thread checks both its row and its column. If the image is higher than a grid can
//         be, a thread goes on to further rows.
// Map     column = blockIdx.x * side + threadIdx.x, row = blockIdx.y * side + threadIdx.y
// Limit   three byte loads per thread, and one byte store: see "vectorized"
#ifndef CK_GRAYSCALE_BLOCKS_2D_CUH
#define CK_GRAYSCALE_BLOCKS_2D_CUH

#include "pixels.cuh"

namespace grayscale {

__global__ void __launch_bounds__(1024) blocks_2d(const picture image) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t rows = static_cast<int64_t>(gridDim.y) * blockDim.y;
    int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column >= image.width) return;
    for (; row < image.height; row += rows) {
        const uint8_t *const from = image.pixel(row, column);
        *image.gray_pixel(row, column) =
            luminance(from[0], from[image.channel_stride], from[2 * image.channel_stride]);
    }
}

} // namespace grayscale

#endif

// grayscale "blocks_2d": comes after "naive".
//
// Change  Blocks are squares, and the grid has the picture's shape: a thread's row and column are its place in it.
// Why     The hardware counts in two dimensions by itself; no thread divides.
// Claim   divisions to find a pixel: none (before: one a pixel)
// Price   squares reach beyond two edges of the picture instead of one: 76 x 62 pixels take 80 x 64 threads
// Edges   four kinds of block: inside all threads work; at the right, at the bottom and in the corner each thread asks
//         for both its row and its column. Where the picture is higher than a grid can be, a thread goes on to further
//         rows
// Map     column = blockIdx.x * side + threadIdx.x, row = blockIdx.y * side + threadIdx.y
// Limit   three loads of a byte a thread, and one store of a byte: "vectorized"
#ifndef CK_GRAYSCALE_BLOCKS_2D_CUH
#define CK_GRAYSCALE_BLOCKS_2D_CUH

#include "pixels.cuh"

namespace grayscale {

__global__ void __launch_bounds__(1024) blocks_2d(const picture image) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t rows = static_cast<int64_t>(gridDim.y) * blockDim.y;
    int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column < image.width)
        for (; row < image.height; row += rows) image.convert(row, column);
}

} // namespace grayscale

#endif

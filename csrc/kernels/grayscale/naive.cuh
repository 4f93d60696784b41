// grayscale "naive": where the ladder begins.
//
// Idea    A thread a pixel, the pixels counted through, row after row.
// Claim   load requests: 3 a pixel, of a byte a thread; words are moved once, but in small pieces
// Price   a division of 64-bit numbers a pixel, to know its row: more work than the luminance
// Edges   the last block has threads beyond the picture: `if (i < pixels)` keeps them out of it
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
    const int64_t row = i / image.width;
    image.convert(row, i - row * image.width);
}

} // namespace grayscale

#endif

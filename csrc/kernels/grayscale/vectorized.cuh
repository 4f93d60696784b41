// grayscale "vectorized": comes after "blocks_2d".
//
// Change  A thread takes four neighboring pixels: it loads them as words of 4 bytes (three channels, three words) or
//         as 16 bytes at once (four channels), and stores four gray values as one word.
// Why     The same bytes need fewer instructions, and each thread has more bytes in flight.
// Claim   load requests for four pixels: 3 for three channels, 1 for four (before: 12)
// Price   shifts, to extract the bytes from the words
// Edges   Groups of four start at a word boundary; pixels of a row before the first group and after the last one are
//         computed one by one. So are all pixels whose channels or neighbors are not contiguous, and gray values are
//         stored one by one where no word starts. Rows that follow each other without a gap are treated as one row.
// Map     group f: thread f % grid_threads(); row = f / groups per row (one row: no division)
// Limit   memory: an image is read and written once
#ifndef CK_GRAYSCALE_VECTORIZED_CUH
#define CK_GRAYSCALE_VECTORIZED_CUH

#include "../grid.cuh"
#include "pixels.cuh"

namespace grayscale {

enum { FOUR = 4 };

// Four pixels, in as many words as there are channels, with the alignment of the widest load.
template <int CHANNELS> struct alignas(CHANNELS == 4 ? 16 : 4) four_pixels {
    uint32_t words[CHANNELS];

    __device__ __forceinline__ uint32_t channel(int pixel, int channel) const {
        const int byte = pixel * CHANNELS + channel;
        return words[byte / 4] >> byte % 4 * 8 & 255;
    }
    __device__ __forceinline__ uint8_t gray(int pixel) const {
        return luminance(channel(pixel, 0), channel(pixel, 1), channel(pixel, 2));
    }
};

// The number of pixels before the first one that begins at a boundary; FOUR if no pixel does.
template <int CHANNELS> __device__ __forceinline__ int pixels_to_boundary(const uint8_t *row) {
    const auto address = reinterpret_cast<uintptr_t>(row);
    if constexpr (CHANNELS == 3)
        return static_cast<int>(address % 4); // each pixel advances by 3, which is -1 modulo 4
    return address % 4 == 0 ? static_cast<int>((16 - address % 16) / 4 % 4) : FOUR;
}

// A row has one more group of four than its length alone requires, because the first may begin before the row.
__host__ __device__ __forceinline__ int64_t fours_of(int64_t width) {
    return (width + 2 * (FOUR - 1)) / FOUR;
}

template <int CHANNELS> __global__ void __launch_bounds__(1024) vectorized(const picture image) {
    using four = four_pixels<CHANNELS>;
    const int64_t in_row = fours_of(image.width), all = image.height * in_row;
    const bool contiguous = image.column_stride == CHANNELS && image.channel_stride == 1;
    for (int64_t f = grid_thread(); f < all; f += grid_threads()) {
        const int64_t row = image.height == 1 ? 0 : f / in_row;
        const int ahead = contiguous ? pixels_to_boundary<CHANNELS>(image.pixel(row, 0)) : FOUR;
        const int64_t column = (f - row * in_row) * FOUR - (ahead == 0 ? 0 : FOUR - ahead);
        if (ahead == FOUR || column < 0 || column + FOUR > image.width) {
            for (int p = 0; p < FOUR; ++p) {
                if (column + p < 0 || column + p >= image.width) continue;
                const uint8_t *const from = image.pixel(row, column + p);
                *image.gray_pixel(row, column + p) =
                    luminance(from[0], from[image.channel_stride], from[2 * image.channel_stride]);
            }
            continue;
        }
        const four pixels = *reinterpret_cast<const four *>(image.pixel(row, column));
        uint8_t *const to = image.gray_pixel(row, column);
        if (image.gray_column_stride == 1 && reinterpret_cast<uintptr_t>(to) % 4 == 0) {
            uint32_t word = 0;
            for (int p = 0; p < FOUR; ++p) word |= static_cast<uint32_t>(pixels.gray(p)) << 8 * p;
            *reinterpret_cast<uint32_t *>(to) = word;
        } else {
            for (int p = 0; p < FOUR; ++p) to[p * image.gray_column_stride] = pixels.gray(p);
        }
    }
}

} // namespace grayscale

#endif

// unpack_bytes "words": comes after "bytes".
//
// Change  A thread reads four bytes as one word, extracts them with shifts and masks, and writes four floats at once.
// Why     A quarter of the requests, for loads and for stores, moves the same sectors.
// Claim   load requests: one per 128 bytes (before: per 32); store requests: one per 128 floats (before: per 32)
// Price   three shifts and masks per word
// Edges   If the bytes are not aligned to 4 bytes or the floats not to 16, all elements are processed one by one.
//         Elements after the last whole word are always processed one by one.
// Map     word w: thread w of the grid; single element s: thread s % grid_threads()
// Limit   memory bandwidth: 5 bytes per element in both variants
#ifndef CK_UNPACK_BYTES_WORDS_CUH
#define CK_UNPACK_BYTES_WORDS_CUH

#include "bytes.cuh"

namespace unpack_bytes {

__global__ void __launch_bounds__(1024) words(const uint8_t *__restrict__ x, float *__restrict__ result, int64_t n) {
    const bool aligned =
        reinterpret_cast<uintptr_t>(x) % sizeof(uint32_t) == 0 && reinterpret_cast<uintptr_t>(result) % 16 == 0;
    const int64_t whole = aligned ? n / 4 : 0, w = grid_thread();
    if (w < whole) {
        const uint32_t word = reinterpret_cast<const uint32_t *>(x)[w];
        reinterpret_cast<float4 *>(result)[w] =
            make_float4(static_cast<float>(word & 0xff), static_cast<float>(word >> 8 & 0xff),
                        static_cast<float>(word >> 16 & 0xff), static_cast<float>(word >> 24));
    }
    for (int64_t i = 4 * whole + grid_thread(); i < n; i += grid_threads()) result[i] = static_cast<float>(x[i]);
}

} // namespace unpack_bytes

#endif

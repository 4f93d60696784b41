// unpack_bytes "words": comes after "bytes".
//
// Change  A thread reads four bytes as one word and takes it apart by shifts and masks; it writes four floats at once.
// Why     The same sectors with a quarter of the requests, on both ways.
// Claim   load requests: one for 128 bytes (before: for 32); store requests: one for 128 floats (before: for 32)
// Price   three shifts and masks a word
// Edges   where the bytes do not begin on a word's boundary or the floats not on one of 16 bytes, all elements go one
//         by one, as do those after the last whole word
// Map     word w: thread w of the grid; single element s: thread s % grid_threads()
// Limit   the memory, which moves 5 bytes an element either way
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

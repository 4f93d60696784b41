// unpack_bytes "bytes": the first kernel of the ladder.
//
// Idea    One thread per byte: it reads the byte and writes it as a float.
// Claim   load requests: one per 32 bytes, each of which touches one sector
// Price   none; but every 32 bytes take an instruction and a request
// Edges   The last block has threads past the end of the array: they do nothing.
// Map     element i: thread i of the grid
// Limit   32 bytes per request, although a request can fetch 512: see "words"
#ifndef CK_UNPACK_BYTES_BYTES_CUH
#define CK_UNPACK_BYTES_BYTES_CUH

#include "../grid.cuh"

namespace unpack_bytes {

__global__ void __launch_bounds__(1024) bytes(const uint8_t *__restrict__ x, float *__restrict__ result, int64_t n) {
    const int64_t i = grid_thread();
    if (i < n) result[i] = static_cast<float>(x[i]);
}

} // namespace unpack_bytes

#endif

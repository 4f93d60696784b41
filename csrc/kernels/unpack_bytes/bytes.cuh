// unpack_bytes "bytes": the ladder begins here.
//
// Idea    One thread per byte, which it reads by itself and writes as a float.
// Claim   load requests: one for 32 bytes; they touch one sector each
// Price   none: an instruction and a request for each 32 bytes
// Edges   the last block has threads beyond the array: they do nothing
// Map     element i: thread i of the grid
// Limit   32 bytes a request, of the 512 that one could bring: "words"
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

// packbits "vectorized": comes after "ballot". For flags of one byte.
//
// Change  Each lane loads 16 flags at once and packs them by arithmetic, four at a time. Lanes do not depend on each
//         other.
// Why     A request fetches 512 bytes instead of 32.
// Claim   requests for 1024 flags: 2 (before: 32)
// Price   about ten operations per four flags
// Edges   Flags after the last whole pack are packed byte by byte; all are if the array does not start at a 16-byte
//         boundary.
// Map     pack p: thread p % grid_threads(), bytes 2 p and 2 p + 1
// Limit   memory
#ifndef CK_PACKBITS_VECTORIZED_CUH
#define CK_PACKBITS_VECTORIZED_CUH

#include "../pack.cuh"
#include "register.cuh"

namespace packbits {

// Converts four bytes to four bits, the lowest for the first byte. A nonzero byte carries into its highest bit. Bits
// 7, 15, 23 and 31, shifted to 0, 8, 16 and 24, are then moved next to each other by the product, from bit 24 on,
// where no other bit interferes.
__device__ __forceinline__ uint32_t four_flags(uint32_t bytes) {
    const uint32_t highest = ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes;
    return ((highest >> 7 & 0x01010101u) * 0x01020408u) >> 24 & 15u;
}

__global__ void __launch_bounds__(1024)
    vectorized(const uint8_t *__restrict__ x, uint8_t *__restrict__ result, int64_t n, int flip) {
    struct alignas(WIDEST_ACCESS) pack {
        uint32_t words[WIDEST_ACCESS / sizeof(uint32_t)];
    };
    const int64_t packs = reinterpret_cast<uintptr_t>(x) % WIDEST_ACCESS == 0 ? n / WIDEST_ACCESS : 0;
    for (int64_t p = grid_thread(); p < packs; p += grid_threads()) {
        const pack flags = reinterpret_cast<const pack *>(x)[p];
        uint32_t bits = 0;
        for (int w = 0; w < 4; ++w) bits |= four_flags(flags.words[w]) << 4 * w;
        if (flip) { // reverse each byte: reverse all 16 bits, then exchange the bytes
            const uint32_t back = __brev(bits) >> 16;
            bits = (back >> 8 | back << 8) & 0xffffu;
        }
        uint8_t *const at = result + 2 * p;
        if (reinterpret_cast<uintptr_t>(result) % 2 == 0) {
            *reinterpret_cast<uint16_t *>(at) = static_cast<uint16_t>(bits);
        } else {
            at[0] = static_cast<uint8_t>(bits);
            at[1] = static_cast<uint8_t>(bits >> 8);
        }
    }
    const int64_t bytes = n / FLAGS_PER_BYTE + (n % FLAGS_PER_BYTE != 0);
    for (int64_t b = 2 * packs + grid_thread(); b < bytes; b += grid_threads()) {
        const int64_t first = b * FLAGS_PER_BYTE, left = n - first;
        result[b] =
            static_cast<uint8_t>(gathered(x + first, left < FLAGS_PER_BYTE ? left : int64_t(FLAGS_PER_BYTE), flip));
    }
}

} // namespace packbits

#endif

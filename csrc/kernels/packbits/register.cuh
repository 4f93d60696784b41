// packbits "register": comes after "global_memory". (`register` is a keyword of C++, so the kernel is `in_register`.)
//
// Change  The 32 flags are collected in a register, which is stored once at the end.
// Why     A register has no latency to wait for.
// Claim   accesses to the result per word: 1 store (before: 32 loads and 36 stores)
// Price   one register
// Edges   as before; the last word is stored byte by byte
// Map     thread w: flags 32 w to 32 w + 31, word w
// Limit   the loop: a counter, a comparison and a jump for each flag: see "unrolled"
#ifndef CK_PACKBITS_REGISTER_CUH
#define CK_PACKBITS_REGISTER_CUH

#include "flags.cuh"

namespace packbits {

// Not unrolled: that is the next step.
template <typename T> __device__ __forceinline__ uint32_t gathered(const T *__restrict__ x, int64_t count, int flip) {
    uint32_t word = 0;
#pragma unroll 1
    for (int i = 0; i < FLAGS_PER_WORD && i < count; ++i) word |= static_cast<uint32_t>(x[i] != 0) << (i ^ flip);
    return word;
}

template <typename T>
__global__ void __launch_bounds__(1024)
    in_register(const T *__restrict__ x, uint8_t *__restrict__ result, int64_t n, int flip) {
    const int64_t which = grid_thread(), first = which * FLAGS_PER_WORD;
    if (first < n) store_word(result, which, gathered(x + first, n - first, flip), n);
}

} // namespace packbits

#endif

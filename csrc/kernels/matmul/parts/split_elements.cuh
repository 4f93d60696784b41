// How "split_inside" and "split_small" split elements into three pieces of bfloat16 in registers.
//
// A piece is what is left of a float32, rounded to the eight significant bits of a bfloat16. Three pieces hold all 24
// bits, so that their sum is the element, unless the last one is smaller than any bfloat16. (Cutting them off would
// be exact, too. But then all pieces had the same sign, and so had the products that are left out.)
#ifndef CK_MATMUL_SPLIT_ELEMENTS_CUH
#define CK_MATMUL_SPLIT_ELEMENTS_CUH

#include <string.h>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace matmul {

// Two numbers, rounded, in one register.
__device__ __forceinline__ unsigned bf16_pair(float low, float high) {
    struct alignas(4) {
        __nv_bfloat16 low, high;
    } pair = {static_cast<__nv_bfloat16>(low), static_cast<__nv_bfloat16>(high)};
    unsigned bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// Splits elements, and keeps what a thread has found in them. (Additions and multiplications have other units than
// logical instructions, which would be the bottleneck: so a sum of magnitudes stands for the largest one.)
struct split_elements {
    float magnitudes = 0; // the sum of all
    unsigned lost = 0;    // bits of elements that no piece holds, in the lower half

    // Word i holds piece i of both elements.
    __device__ __forceinline__ void split(float first, float second, unsigned (&words)[3]) {
        magnitudes += fabsf(first), magnitudes += fabsf(second);
#pragma unroll
        for (int piece = 0; piece < 3; ++piece) {
            words[piece] = bf16_pair(first, second);
            if (piece == 2) lost |= __float_as_uint(first) | __float_as_uint(second);
            first -= __uint_as_float(words[piece] << 16), second -= __uint_as_float(words[piece] & 0xffff0000u);
        }
    }
};

} // namespace matmul

#endif

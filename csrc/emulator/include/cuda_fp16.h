// CUDA's half precision: 5 bits of exponent, 10 of fraction; and pairs of such numbers.
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

typedef struct __attribute__((aligned(2))) __half_raw {
    unsigned short x;
} __half_raw;
typedef struct __attribute__((aligned(4))) __half2_raw {
    unsigned short x, y;
} __half2_raw;

#ifdef __cplusplus
#include "emulator/device_half_pairs.h"

struct EMU_VISIBLE __half : emu::short_float<__half, __half_raw, 5> {
    using short_float::short_float;

    static float widened(unsigned short bits) {
        const unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
        if (exponent == 31 && fraction != 0) return emu::same_bits<float>(0x7fffffffu);
        if (exponent == 31) return emu::same_bits<float>(sign | 0x7f800000u);
        if (exponent != 0) return emu::same_bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
        const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
};
typedef __half half;

EMU_HALF_CONVERSIONS(__half, __half_raw, half)
EMU_HALF_FUNCTIONS(__half, __half_raw)
EMU_HALF_PAIRS(__half2, __half, __half2_raw)
EMU_PAIR_CONVERSIONS(__half2, __half, half, half2)
typedef __half2 half2;

#define CUDART_ZERO_FP16       __ushort_as_half(0x0000)
#define CUDART_NEG_ZERO_FP16   __ushort_as_half(0x8000)
#define CUDART_ONE_FP16        __ushort_as_half(0x3c00)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_INF_FP16        __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16        __ushort_as_half(0x7fff)
#endif

#endif

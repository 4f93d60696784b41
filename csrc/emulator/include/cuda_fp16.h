// CUDA's half precision: 5 bits of exponent, 10 of fraction. The part that conversions and plain arithmetic need; pairs
// (__half2) are not there yet.
#ifndef EMULATOR_CUDA_FP16_H
#define EMULATOR_CUDA_FP16_H

typedef struct __attribute__((aligned(2))) __half_raw {
    unsigned short x;
} __half_raw;

#ifdef __cplusplus
#include "device_half.h"

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

#define EMU_FUNCTION(type, name, parameters, ...)                                                                    \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }
EMU_FUNCTION(float, __half2float, (__half x), x)
EMU_FUNCTION(__half, __float2half, (float x), x)
EMU_FUNCTION(__half, __float2half_rn, (float x), x)
EMU_FUNCTION(__half, __double2half, (double x), x)
EMU_FUNCTION(unsigned short, __half_as_ushort, (__half x), static_cast<__half_raw>(x).x)
EMU_FUNCTION(__half, __ushort_as_half, (unsigned short bits), __half_raw{bits})
#undef EMU_FUNCTION
#endif

#endif

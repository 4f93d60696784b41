// CUDA's bfloat16: the upper half of a float, 8 bits of exponent, 7 of fraction. The part that conversions and plain
// arithmetic need; pairs (__nv_bfloat162) are not there yet.
#ifndef EMULATOR_CUDA_BF16_H
#define EMULATOR_CUDA_BF16_H

typedef struct __attribute__((aligned(2))) __nv_bfloat16_raw {
    unsigned short x;
} __nv_bfloat16_raw;

#ifdef __cplusplus
#include "device_half.h"

struct EMU_VISIBLE __nv_bfloat16 : emu::short_float<__nv_bfloat16, __nv_bfloat16_raw, 8> {
    using short_float::short_float;

    static float widened(unsigned short bits) { return emu::same_bits<float>(static_cast<unsigned>(bits) << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;

#define EMU_FUNCTION(type, name, parameters, ...)                                                                    \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }
EMU_FUNCTION(float, __bfloat162float, (__nv_bfloat16 x), x)
EMU_FUNCTION(__nv_bfloat16, __float2bfloat16, (float x), x)
EMU_FUNCTION(__nv_bfloat16, __float2bfloat16_rn, (float x), x)
EMU_FUNCTION(__nv_bfloat16, __double2bfloat16, (double x), x)
EMU_FUNCTION(unsigned short, __bfloat16_as_ushort, (__nv_bfloat16 x), static_cast<__nv_bfloat16_raw>(x).x)
EMU_FUNCTION(__nv_bfloat16, __ushort_as_bfloat16, (unsigned short bits), __nv_bfloat16_raw{bits})
#undef EMU_FUNCTION
#endif

#endif

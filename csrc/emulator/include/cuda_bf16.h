// CUDA's bfloat16: the upper half of a float, with 8 bits of exponent and 7 of fraction. Pairs (__nv_bfloat162) are not
// supported yet.
#ifndef EMULATOR_CUDA_BF16_H
#define EMULATOR_CUDA_BF16_H

typedef struct __attribute__((aligned(2))) __nv_bfloat16_raw {
    unsigned short x;
} __nv_bfloat16_raw;

#ifdef __cplusplus
#include "device_half_functions.h"

struct EMU_VISIBLE __nv_bfloat16 : emu::short_float<__nv_bfloat16, __nv_bfloat16_raw, 8> {
    using short_float::short_float;

    static float widened(unsigned short bits) { return emu::same_bits<float>(static_cast<unsigned>(bits) << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;

EMU_HALF_CONVERSIONS(__nv_bfloat16, __nv_bfloat16_raw, bfloat16)
EMU_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat16_raw)
#endif

#endif

// CUDA's bfloat16: the upper half of a float, with 8 bits of exponent and 7 of fraction; and pairs of such numbers.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

typedef struct __attribute__((aligned(2))) __nv_bfloat16_raw {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct __attribute__((aligned(4))) __nv_bfloat162_raw {
    unsigned short x, y;
} __nv_bfloat162_raw;

#ifdef __cplusplus
#include "emulator/device_half_pairs.h"

struct EMU_VISIBLE __nv_bfloat16 : emu::short_float<__nv_bfloat16, __nv_bfloat16_raw, 8> {
    using short_float::short_float;

    static float widened(unsigned short bits) { return emu::same_bits<float>(static_cast<unsigned>(bits) << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;

EMU_HALF_CONVERSIONS(__nv_bfloat16, __nv_bfloat16_raw, bfloat16)
EMU_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat16_raw)
EMU_HALF_PAIRS(__nv_bfloat162, __nv_bfloat16, __nv_bfloat162_raw)
EMU_PAIR_CONVERSIONS(__nv_bfloat162, __nv_bfloat16, bfloat16, bfloat162)
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_ZERO_BF16       __ushort_as_bfloat16(0x0000)
#define CUDART_NEG_ZERO_BF16   __ushort_as_bfloat16(0x8000)
#define CUDART_ONE_BF16        __ushort_as_bfloat16(0x3f80)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_INF_BF16        __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16        __ushort_as_bfloat16(0x7fff)
#endif

#endif

// CUDA's functions of 16-bit numbers, for cuda_fp16.h and cuda_bf16.h. Each is written once, for `Number`, which is
// __half or __nv_bfloat16.
//
// Sums, products and fused multiply-adds are rounded once, to nearest, ties to even. So are square roots,
// exponentials and similar functions, where a GPU may be off by one unit in the last place.
#ifndef EMULATOR_DEVICE_HALF_FUNCTIONS_H
#define EMULATOR_DEVICE_HALF_FUNCTIONS_H

#include "device_atomics.h"
#include "device_half.h"
#include "device_warp.h"

namespace emu {

// x * y + z for a conversion that rounds it once. A double holds the product exactly; an inexact sum is rounded to
// odd, so that the second rounding gives the correct result.
__forceinline__ double marked_fma(float x, float y, float z) {
    const double product = static_cast<double>(x) * y, sum = product + z;
    const double rest = rest_of_sum(product, z, sum);
    const uint64_t bits = same_bits<uint64_t>(sum);
    if (rest == 0 || bits % 2 == 1) return sum;
    return same_bits<double>((rest > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

// The nearest number, or the adjacent one if the nearest is on the wrong side.
template <typename Number, typename Raw> Number short_directed(double value, rounding how) {
    const Number nearest = value;
    const double back = static_cast<float>(nearest);
    const bool up = how == UP || (how == TOWARD_ZERO && value < 0);
    if (!(up ? back < value : back > value)) return nearest;
    if (back == 0) return Raw{static_cast<unsigned short>(up ? 1 : 0x8001)};
    const int step = up == (back > 0) ? 1 : -1; // (bits count magnitudes)
    return Raw{static_cast<unsigned short>(static_cast<Raw>(nearest).x + step)};
}

template <typename Number> __forceinline__ Number saturated_to_1(double value) {
    return value > 0 ? (value < 1 ? Number(value) : Number(1)) : Number(0); // (of a NaN: 0)
}

// Orders zeros too: -0 is less than 0.
template <typename Number> __forceinline__ bool is_less(Number x, Number y) {
    const float a = x, b = y;
    return a < b || (a == b && signbit(a) && !signbit(b));
}

} // namespace emu

#define EMU_HALF_FUNCTION(type, name, parameters, ...)                                                               \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }
#define EMU_HALF_COMPARISON(Number, name, op)                                                                        \
    EMU_HALF_FUNCTION(bool, __h##name, (Number x, Number y), !__hisnan(x) && !__hisnan(y) && x op y)                 \
    EMU_HALF_FUNCTION(bool, __h##name##u, (Number x, Number y), __hisnan(x) || __hisnan(y) || x op y)

#define EMU_HALF_FUNCTIONS(Number, Raw)                                                                              \
    /* --- arithmetic */                                                                                             \
    EMU_HALF_FUNCTION(Number, __hadd, (Number x, Number y), x + y)                                                   \
    EMU_HALF_FUNCTION(Number, __hadd_rn, (Number x, Number y), x + y)                                                \
    EMU_HALF_FUNCTION(Number, __hadd_sat, (Number x, Number y),                                                      \
                      emu::saturated_to_1<Number>(static_cast<float>(x + y)))                                        \
    EMU_HALF_FUNCTION(Number, __hsub, (Number x, Number y), x - y)                                                   \
    EMU_HALF_FUNCTION(Number, __hsub_rn, (Number x, Number y), x - y)                                                \
    EMU_HALF_FUNCTION(Number, __hsub_sat, (Number x, Number y),                                                      \
                      emu::saturated_to_1<Number>(static_cast<float>(x - y)))                                        \
    EMU_HALF_FUNCTION(Number, __hmul, (Number x, Number y), x *y)                                                    \
    EMU_HALF_FUNCTION(Number, __hmul_rn, (Number x, Number y), x *y)                                                 \
    EMU_HALF_FUNCTION(Number, __hmul_sat, (Number x, Number y),                                                      \
                      emu::saturated_to_1<Number>(static_cast<float>(x * y)))                                        \
    EMU_HALF_FUNCTION(Number, __hdiv, (Number x, Number y), x / y)                                                   \
    EMU_HALF_FUNCTION(Number, __hfma, (Number x, Number y, Number z), emu::marked_fma(x, y, z))                      \
    EMU_HALF_FUNCTION(Number, __hfma_sat, (Number x, Number y, Number z),                                            \
                      emu::saturated_to_1<Number>(emu::marked_fma(x, y, z)))                                         \
    EMU_HALF_FUNCTION(Number, __hneg, (Number x), -x)                                                                \
    __host__ __device__ __forceinline__ Number __habs(Number x) {                                                    \
        Raw raw = x;                                                                                                 \
        raw.x &= 0x7fff;                                                                                             \
        return raw;                                                                                                  \
    }                                                                                                                \
    /* --- comparisons: false for NaN, except that those ending in u are true */                                     \
    EMU_HALF_FUNCTION(bool, __hisnan, (Number x), x != x)                                                            \
    EMU_HALF_FUNCTION(int, __hisinf, (Number x),                                                                     \
                      isinf(static_cast<float>(x)) ? (static_cast<float>(x) < 0 ? -1 : 1) : 0)                       \
    EMU_HALF_COMPARISON(Number, eq, ==)                                                                              \
    EMU_HALF_COMPARISON(Number, ne, !=)                                                                              \
    EMU_HALF_COMPARISON(Number, lt, <)                                                                               \
    EMU_HALF_COMPARISON(Number, le, <=)                                                                              \
    EMU_HALF_COMPARISON(Number, gt, >)                                                                               \
    EMU_HALF_COMPARISON(Number, ge, >=)                                                                              \
    /* Of a number and a NaN, the number; with _nan, the NaN. */                                                     \
    EMU_HALF_FUNCTION(Number, __hmin_nan, (Number x, Number y),                                                      \
                      x != x || y != y     ? Number(NAN)                                                             \
                      : emu::is_less(y, x) ? y                                                                       \
                                           : x)                                                                      \
    EMU_HALF_FUNCTION(Number, __hmax_nan, (Number x, Number y),                                                      \
                      x != x || y != y     ? Number(NAN)                                                             \
                      : emu::is_less(x, y) ? y                                                                       \
                                           : x)                                                                      \
    EMU_HALF_FUNCTION(Number, __hmin, (Number x, Number y), __hmin_nan(x == x ? x : y, y == y ? y : x))              \
    EMU_HALF_FUNCTION(Number, __hmax, (Number x, Number y), __hmax_nan(x == x ? x : y, y == y ? y : x))              \
    EMU_HALF_FUNCTION(Number, __hfma_relu, (Number x, Number y, Number z), __hmax_nan(__hfma(x, y, z), Number(0)))   \
    /* --- functions */                                                                                              \
    EMU_HALF_FUNCTION(Number, hsqrt, (Number x), sqrt(static_cast<double>(x)))                                       \
    EMU_HALF_FUNCTION(Number, hrsqrt, (Number x), 1 / sqrt(static_cast<double>(x)))                                  \
    EMU_HALF_FUNCTION(Number, hrcp, (Number x), 1 / static_cast<double>(x))                                          \
    EMU_HALF_FUNCTION(Number, hexp, (Number x), exp(static_cast<double>(x)))                                         \
    EMU_HALF_FUNCTION(Number, hexp2, (Number x), exp2(static_cast<double>(x)))                                       \
    EMU_HALF_FUNCTION(Number, hexp10, (Number x), pow(10.0, static_cast<double>(x)))                                 \
    EMU_HALF_FUNCTION(Number, hlog, (Number x), log(static_cast<double>(x)))                                         \
    EMU_HALF_FUNCTION(Number, hlog2, (Number x), log2(static_cast<double>(x)))                                       \
    EMU_HALF_FUNCTION(Number, hlog10, (Number x), log10(static_cast<double>(x)))                                     \
    EMU_HALF_FUNCTION(Number, hsin, (Number x), sin(static_cast<double>(x)))                                         \
    EMU_HALF_FUNCTION(Number, hcos, (Number x), cos(static_cast<double>(x)))                                         \
    EMU_HALF_FUNCTION(Number, htanh, (Number x), tanh(static_cast<double>(x)))                                       \
    EMU_HALF_FUNCTION(Number, htanh_approx, (Number x), tanh(static_cast<double>(x)))                                \
    EMU_HALF_FUNCTION(Number, hceil, (Number x), ceilf(x))                                                           \
    EMU_HALF_FUNCTION(Number, hfloor, (Number x), floorf(x))                                                         \
    EMU_HALF_FUNCTION(Number, htrunc, (Number x), truncf(x))                                                         \
    EMU_HALF_FUNCTION(Number, hrint, (Number x), rintf(x))                                                           \
    /* --- between threads */                                                                                        \
    __device__ __forceinline__ Number atomicAdd(Number *address, Number value) {                                     \
        EMU_REPORTED(address, EMU_READS | EMU_WRITES);                                                               \
        return emu::update(address, [value](Number old) -> Number { return old + value; });                          \
    }                                                                                                                \
    EMU_HALF_SHUFFLE(Number, Raw, __shfl_sync, int)                                                                  \
    EMU_HALF_SHUFFLE(Number, Raw, __shfl_up_sync, unsigned)                                                          \
    EMU_HALF_SHUFFLE(Number, Raw, __shfl_down_sync, unsigned)                                                        \
    EMU_HALF_SHUFFLE(Number, Raw, __shfl_xor_sync, int)
#define EMU_HALF_SHUFFLE(Number, Raw, name, By)                                                                      \
    __device__ __forceinline__ Number name(unsigned mask, Number value, By by, int width = 32, EMU_SITE) {           \
        return Raw{name(mask, emu::same_bits<unsigned short>(value), by, width, file, line)};                        \
    }

// --- conversions; `number` is the type's name as part of CUDA's function names
#define EMU_HALF_TO_INTEGER(Number, number, type, word)                                                              \
    EMU_HALF_FUNCTION(type, __##number##2##word##_rn, (Number x), emu::saturated<type>(rintf(x)))                    \
    EMU_HALF_FUNCTION(type, __##number##2##word##_rz, (Number x), emu::saturated<type>(static_cast<float>(x)))       \
    EMU_HALF_FUNCTION(type, __##number##2##word##_ru, (Number x), emu::saturated<type>(ceilf(x)))                    \
    EMU_HALF_FUNCTION(type, __##number##2##word##_rd, (Number x), emu::saturated<type>(floorf(x)))
#define EMU_HALF_OF_INTEGER(Number, Raw, number, type, word)                                                         \
    EMU_HALF_FUNCTION(Number, __##word##2##number##_rn, (type x), x)                                                 \
    EMU_HALF_DIRECTED(Number, Raw, __##word##2##number, type, emu::marked_double(x))
#define EMU_HALF_DIRECTED(Number, Raw, name, type, value)                                                            \
    EMU_HALF_FUNCTION(Number, name##_rz, (type x), emu::short_directed<Number, Raw>(value, emu::TOWARD_ZERO))        \
    EMU_HALF_FUNCTION(Number, name##_ru, (type x), emu::short_directed<Number, Raw>(value, emu::UP))                 \
    EMU_HALF_FUNCTION(Number, name##_rd, (type x), emu::short_directed<Number, Raw>(value, emu::DOWN))
#define EMU_HALF_INTEGER(Number, Raw, number, type, word)                                                            \
    EMU_HALF_TO_INTEGER(Number, number, type, word)                                                                  \
    EMU_HALF_OF_INTEGER(Number, Raw, number, type, word)
#define EMU_HALF_CONVERSIONS(Number, Raw, number)                                                                    \
    EMU_HALF_FUNCTION(float, __##number##2float, (Number x), x)                                                      \
    EMU_HALF_FUNCTION(Number, __float2##number, (float x), x)                                                        \
    EMU_HALF_FUNCTION(Number, __float2##number##_rn, (float x), x)                                                   \
    EMU_HALF_DIRECTED(Number, Raw, __float2##number, float, x)                                                       \
    EMU_HALF_FUNCTION(Number, __double2##number, (double x), x)                                                      \
    EMU_HALF_FUNCTION(unsigned short, __##number##_as_ushort, (Number x), emu::same_bits<unsigned short>(x))         \
    EMU_HALF_FUNCTION(Number, __ushort_as_##number, (unsigned short bits), Raw{bits})                                \
    EMU_HALF_FUNCTION(short, __##number##_as_short, (Number x), emu::same_bits<short>(x))                            \
    EMU_HALF_FUNCTION(Number, __short_as_##number, (short bits), Raw{static_cast<unsigned short>(bits)})             \
    EMU_HALF_FUNCTION(signed char, __##number##2char_rz, (Number x),                                                 \
                      emu::saturated<signed char>(static_cast<float>(x)))                                            \
    EMU_HALF_FUNCTION(unsigned char, __##number##2uchar_rz, (Number x),                                              \
                      emu::saturated<unsigned char>(static_cast<float>(x)))                                          \
    EMU_HALF_INTEGER(Number, Raw, number, short, short)                                                              \
    EMU_HALF_INTEGER(Number, Raw, number, unsigned short, ushort)                                                    \
    EMU_HALF_INTEGER(Number, Raw, number, int, int)                                                                  \
    EMU_HALF_INTEGER(Number, Raw, number, unsigned, uint)                                                            \
    EMU_HALF_INTEGER(Number, Raw, number, long long, ll)                                                             \
    EMU_HALF_INTEGER(Number, Raw, number, unsigned long long, ull)

#endif

// Pairs of 16-bit numbers, __half2 and __nv_bfloat162, for cuda_fp16.h and cuda_bf16.h. Their functions do for each
// of two numbers what the functions of device_half_functions.h do for one.
#ifndef EMULATOR_DEVICE_HALF_PAIRS_H
#define EMULATOR_DEVICE_HALF_PAIRS_H

#include "device_half_functions.h"

#define EMU_PAIR_1(Pair, pairs, function)                                                                            \
    EMU_HALF_FUNCTION(Pair, pairs, (const Pair a), Pair(function(a.x), function(a.y)))
#define EMU_PAIR_2(Pair, pairs, function)                                                                            \
    EMU_HALF_FUNCTION(Pair, pairs, (const Pair a, const Pair b), Pair(function(a.x, b.x), function(a.y, b.y)))
#define EMU_PAIR_3(Pair, pairs, function)                                                                            \
    EMU_HALF_FUNCTION(Pair, pairs, (const Pair a, const Pair b, const Pair c),                                       \
                      Pair(function(a.x, b.x, c.x), function(a.y, b.y, c.y)))
// A comparison gives 1 or 0 for each number, all bits or none of each number, or whether it is true for both.
#define EMU_PAIR_COMPARISON(Pair, name)                                                                              \
    EMU_HALF_FUNCTION(Pair, __h##name##2, (const Pair a, const Pair b),                                              \
                      Pair(__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f))                    \
    EMU_HALF_FUNCTION(unsigned, __h##name##2_mask, (const Pair a, const Pair b),                                     \
                      (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0))                 \
    EMU_HALF_FUNCTION(bool, __hb##name##2, (const Pair a, const Pair b), __h##name(a.x, b.x) && __h##name(a.y, b.y))
#define EMU_PAIR_OPERATOR(Pair, op, function)                                                                        \
    EMU_HALF_FUNCTION(Pair, operator op, (const Pair &a, const Pair &b), function(a, b))                             \
    EMU_HALF_FUNCTION(Pair &, operator op##=, (Pair & a, const Pair &b), a = function(a, b))
#define EMU_PAIR_STEP(Pair, op, step)                                                                                \
    EMU_HALF_FUNCTION(Pair &, operator op##op, (Pair & a), a = a op Pair(step, step))                                \
    __host__ __device__ __forceinline__ Pair operator op##op(Pair &a, int) {                                         \
        const Pair before = a;                                                                                       \
        op##op a;                                                                                                    \
        return before;                                                                                               \
    }
#define EMU_PAIR_SHUFFLE(Pair, name, By)                                                                             \
    __device__ __forceinline__ Pair name(unsigned mask, Pair value, By by, int width = 32, EMU_SITE) {               \
        return emu::same_bits<Pair>(name(mask, emu::same_bits<unsigned>(value), by, width, file, line));             \
    }

#define EMU_HALF_PAIRS(Pair, Number, Raw)                                                                            \
    struct EMU_VISIBLE __align__(4) Pair {                                                                           \
        Number x, y;                                                                                                 \
                                                                                                                     \
        Pair() = default;                                                                                            \
        Pair(const Number &low, const Number &high) : x(low), y(high) {}                                             \
        Pair(const Raw &raw) : x(emu::same_bits<Pair>(raw).x), y(emu::same_bits<Pair>(raw).y) {}                     \
        operator Raw() const {                                                                                       \
            return emu::same_bits<Raw>(*this);                                                                       \
        }                                                                                                            \
    };                                                                                                               \
    /* --- arithmetic */                                                                                             \
    EMU_PAIR_2(Pair, __hadd2, __hadd)                                                                                \
    EMU_PAIR_2(Pair, __hadd2_rn, __hadd_rn)                                                                          \
    EMU_PAIR_2(Pair, __hadd2_sat, __hadd_sat)                                                                        \
    EMU_PAIR_2(Pair, __hsub2, __hsub)                                                                                \
    EMU_PAIR_2(Pair, __hsub2_rn, __hsub_rn)                                                                          \
    EMU_PAIR_2(Pair, __hsub2_sat, __hsub_sat)                                                                        \
    EMU_PAIR_2(Pair, __hmul2, __hmul)                                                                                \
    EMU_PAIR_2(Pair, __hmul2_rn, __hmul_rn)                                                                          \
    EMU_PAIR_2(Pair, __hmul2_sat, __hmul_sat)                                                                        \
    EMU_PAIR_2(Pair, __h2div, __hdiv)                                                                                \
    EMU_PAIR_3(Pair, __hfma2, __hfma)                                                                                \
    EMU_PAIR_3(Pair, __hfma2_sat, __hfma_sat)                                                                        \
    EMU_PAIR_3(Pair, __hfma2_relu, __hfma_relu)                                                                      \
    EMU_PAIR_1(Pair, __hneg2, __hneg)                                                                                \
    EMU_PAIR_1(Pair, __habs2, __habs)                                                                                \
    /* a * b + c of complex numbers; the products of real parts are added first */                                   \
    EMU_HALF_FUNCTION(Pair, __hcmadd, (const Pair a, const Pair b, const Pair c),                                    \
                      Pair(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))))       \
    /* --- comparisons */                                                                                            \
    EMU_HALF_FUNCTION(Pair, __hisnan2, (const Pair a),                                                               \
                      Pair(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f))                                \
    EMU_PAIR_COMPARISON(Pair, eq)                                                                                    \
    EMU_PAIR_COMPARISON(Pair, ne)                                                                                    \
    EMU_PAIR_COMPARISON(Pair, lt)                                                                                    \
    EMU_PAIR_COMPARISON(Pair, le)                                                                                    \
    EMU_PAIR_COMPARISON(Pair, gt)                                                                                    \
    EMU_PAIR_COMPARISON(Pair, ge)                                                                                    \
    EMU_PAIR_COMPARISON(Pair, equ)                                                                                   \
    EMU_PAIR_COMPARISON(Pair, neu)                                                                                   \
    EMU_PAIR_COMPARISON(Pair, ltu)                                                                                   \
    EMU_PAIR_COMPARISON(Pair, leu)                                                                                   \
    EMU_PAIR_COMPARISON(Pair, gtu)                                                                                   \
    EMU_PAIR_COMPARISON(Pair, geu)                                                                                   \
    EMU_PAIR_2(Pair, __hmin2, __hmin)                                                                                \
    EMU_PAIR_2(Pair, __hmax2, __hmax)                                                                                \
    EMU_PAIR_2(Pair, __hmin2_nan, __hmin_nan)                                                                        \
    EMU_PAIR_2(Pair, __hmax2_nan, __hmax_nan)                                                                        \
    /* --- functions */                                                                                              \
    EMU_PAIR_1(Pair, h2sqrt, hsqrt)                                                                                  \
    EMU_PAIR_1(Pair, h2rsqrt, hrsqrt)                                                                                \
    EMU_PAIR_1(Pair, h2rcp, hrcp)                                                                                    \
    EMU_PAIR_1(Pair, h2exp, hexp)                                                                                    \
    EMU_PAIR_1(Pair, h2exp2, hexp2)                                                                                  \
    EMU_PAIR_1(Pair, h2exp10, hexp10)                                                                                \
    EMU_PAIR_1(Pair, h2log, hlog)                                                                                    \
    EMU_PAIR_1(Pair, h2log2, hlog2)                                                                                  \
    EMU_PAIR_1(Pair, h2log10, hlog10)                                                                                \
    EMU_PAIR_1(Pair, h2sin, hsin)                                                                                    \
    EMU_PAIR_1(Pair, h2cos, hcos)                                                                                    \
    EMU_PAIR_1(Pair, h2tanh, htanh)                                                                                  \
    EMU_PAIR_1(Pair, h2tanh_approx, htanh_approx)                                                                    \
    EMU_PAIR_1(Pair, h2ceil, hceil)                                                                                  \
    EMU_PAIR_1(Pair, h2floor, hfloor)                                                                                \
    EMU_PAIR_1(Pair, h2trunc, htrunc)                                                                                \
    EMU_PAIR_1(Pair, h2rint, hrint)                                                                                  \
    /* --- operators; a comparison must be true for both numbers */                                                  \
    EMU_PAIR_OPERATOR(Pair, +, __hadd2)                                                                              \
    EMU_PAIR_OPERATOR(Pair, -, __hsub2)                                                                              \
    EMU_PAIR_OPERATOR(Pair, *, __hmul2)                                                                              \
    EMU_PAIR_OPERATOR(Pair, /, __h2div)                                                                              \
    EMU_PAIR_STEP(Pair, +, 1)                                                                                        \
    EMU_PAIR_STEP(Pair, -, 1)                                                                                        \
    EMU_HALF_FUNCTION(Pair, operator+, (const Pair &a), a)                                                           \
    EMU_HALF_FUNCTION(Pair, operator-, (const Pair &a), __hneg2(a))                                                  \
    EMU_HALF_FUNCTION(bool, operator==, (const Pair &a, const Pair &b), __hbeq2(a, b))                               \
    EMU_HALF_FUNCTION(bool, operator!=, (const Pair &a, const Pair &b), __hbneu2(a, b))                              \
    EMU_HALF_FUNCTION(bool, operator<, (const Pair &a, const Pair &b), __hblt2(a, b))                                \
    EMU_HALF_FUNCTION(bool, operator<=, (const Pair &a, const Pair &b), __hble2(a, b))                               \
    EMU_HALF_FUNCTION(bool, operator>, (const Pair &a, const Pair &b), __hbgt2(a, b))                                \
    EMU_HALF_FUNCTION(bool, operator>=, (const Pair &a, const Pair &b), __hbge2(a, b))                               \
    /* --- parts */                                                                                                  \
    EMU_HALF_FUNCTION(float, __low2float, (const Pair a), a.x)                                                       \
    EMU_HALF_FUNCTION(float, __high2float, (const Pair a), a.y)                                                      \
    EMU_HALF_FUNCTION(Pair, __lowhigh2highlow, (const Pair a), Pair(a.y, a.x))                                       \
    /* --- between threads */                                                                                        \
    __device__ __forceinline__ Pair atomicAdd(Pair *address, Pair value) {                                           \
        EMU_REPORTED(address, EMU_READS | EMU_WRITES);                                                               \
        return emu::update(address, [value](Pair old) -> Pair { return __hadd2(old, value); });                      \
    }                                                                                                                \
    EMU_PAIR_SHUFFLE(Pair, __shfl_sync, int)                                                                         \
    EMU_PAIR_SHUFFLE(Pair, __shfl_up_sync, unsigned)                                                                 \
    EMU_PAIR_SHUFFLE(Pair, __shfl_down_sync, unsigned)                                                               \
    EMU_PAIR_SHUFFLE(Pair, __shfl_xor_sync, int)

// Conversions; `number` is the type's name as part of CUDA's function names, and `pair` that of the pair.
#define EMU_PAIR_CONVERSIONS(Pair, Number, number, pair)                                                             \
    EMU_HALF_FUNCTION(Pair, make_##pair, (const Number low, const Number high), Pair(low, high))                     \
    EMU_HALF_FUNCTION(Pair, __halves2##pair, (const Number low, const Number high), Pair(low, high))                 \
    EMU_HALF_FUNCTION(Pair, __##number##2##pair, (const Number a), Pair(a, a))                                       \
    EMU_HALF_FUNCTION(Pair, __float2##pair##_rn, (const float a), Pair(Number(a), Number(a)))                        \
    EMU_HALF_FUNCTION(Pair, __floats2##pair##_rn, (const float low, const float high),                               \
                      Pair(Number(low), Number(high)))                                                               \
    EMU_HALF_FUNCTION(Pair, __float22##pair##_rn, (const float2 a), Pair(Number(a.x), Number(a.y)))                  \
    EMU_HALF_FUNCTION(float2, __##pair##2float2, (const Pair a),                                                     \
                      make_float2(static_cast<float>(a.x), static_cast<float>(a.y)))                                 \
    EMU_HALF_FUNCTION(Number, __low2##number, (const Pair a), a.x)                                                   \
    EMU_HALF_FUNCTION(Number, __high2##number, (const Pair a), a.y)                                                  \
    EMU_HALF_FUNCTION(Pair, __low2##pair, (const Pair a), Pair(a.x, a.x))                                            \
    EMU_HALF_FUNCTION(Pair, __high2##pair, (const Pair a), Pair(a.y, a.y))                                           \
    EMU_HALF_FUNCTION(Pair, __lows2##pair, (const Pair a, const Pair b), Pair(a.x, b.x))                             \
    EMU_HALF_FUNCTION(Pair, __highs2##pair, (const Pair a, const Pair b), Pair(a.y, b.y))

#endif

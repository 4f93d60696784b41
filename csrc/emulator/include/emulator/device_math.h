// Device functions that C and C++ lack: bits, rounding, the same bits as another type, min and max.
#ifndef EMULATOR_DEVICE_MATH_H
#define EMULATOR_DEVICE_MATH_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmath>
#include <type_traits>

#include "device_qualifiers.h"

#define EMU_FUNCTION(type, name, parameters, ...)                                                                    \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }

// --- bits
EMU_FUNCTION(int, __popc, (unsigned x), __builtin_popcount(x))
EMU_FUNCTION(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
EMU_FUNCTION(int, __ffs, (int x), __builtin_ffs(x))
EMU_FUNCTION(int, __ffsll, (long long x), __builtin_ffsll(x))
EMU_FUNCTION(int, __clz, (int x), x ? __builtin_clz(static_cast<unsigned>(x)) : 32)
EMU_FUNCTION(int, __clzll, (long long x), x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64)
__device__ __forceinline__ unsigned long long __brevll(unsigned long long x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}
EMU_FUNCTION(unsigned, __brev, (unsigned x), static_cast<unsigned>(__brevll(x) >> 32))
EMU_FUNCTION(unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned by),
             static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (by & 31)) >> 32))
EMU_FUNCTION(unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned by),
             static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (by & 31)))

// --- integers
EMU_FUNCTION(int, __mulhi, (int x, int y), static_cast<int>(static_cast<long long>(x) * y >> 32))
EMU_FUNCTION(unsigned, __umulhi, (unsigned x, unsigned y),
             static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32))
__extension__ typedef unsigned __int128 emu_uint128;
EMU_FUNCTION(unsigned long long, __umul64hi, (unsigned long long x, unsigned long long y),
             static_cast<unsigned long long>(static_cast<emu_uint128>(x) * y >> 64))

// --- floating point; each operation is rounded separately
#if defined(__FMA__) || defined(__aarch64__) || defined(__FP_FAST_FMA)
// CUDA guarantees that these operations are not fused, but a host compiler might fuse them. The empty statement
// prevents that.
#ifdef __x86_64__
#define EMU_ROUNDED(value) __asm__("" : "+x"(value))
#else
#define EMU_ROUNDED(value) __asm__("" : "+w"(value))
#endif
#else
#define EMU_ROUNDED(value) (void)0
#endif
#define EMU_ROUNDING(type, name, operator_)                                                                          \
    __host__ __device__ __forceinline__ type name(type x, type y) {                                                  \
        type result = x operator_ y;                                                                                 \
        EMU_ROUNDED(result);                                                                                         \
        return result;                                                                                               \
    }
EMU_ROUNDING(float, __fadd_rn, +)
EMU_ROUNDING(float, __fsub_rn, -)
EMU_ROUNDING(float, __fmul_rn, *)
EMU_ROUNDING(float, __fdiv_rn, /)
EMU_ROUNDING(double, __dadd_rn, +)
EMU_ROUNDING(double, __dsub_rn, -)
EMU_ROUNDING(double, __dmul_rn, *)
EMU_ROUNDING(double, __ddiv_rn, /)
#undef EMU_ROUNDING
#undef EMU_ROUNDED
EMU_FUNCTION(float, __fmaf_rn, (float x, float y, float z), fmaf(x, y, z))
EMU_FUNCTION(double, __fma_rn, (double x, double y, double z), fma(x, y, z))
EMU_FUNCTION(float, __fsqrt_rn, (float x), sqrtf(x))
EMU_FUNCTION(double, __dsqrt_rn, (double x), sqrt(x))
EMU_FUNCTION(float, __frcp_rn, (float x), 1 / x)
EMU_FUNCTION(double, __drcp_rn, (double x), 1 / x)

// --- the same bits as another type
namespace emu {
template <typename To, typename From> __forceinline__ To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "both types must have the same size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace emu
EMU_FUNCTION(int, __float_as_int, (float x), emu::same_bits<int>(x))
EMU_FUNCTION(unsigned, __float_as_uint, (float x), emu::same_bits<unsigned>(x))
EMU_FUNCTION(float, __int_as_float, (int x), emu::same_bits<float>(x))
EMU_FUNCTION(float, __uint_as_float, (unsigned x), emu::same_bits<float>(x))
EMU_FUNCTION(long long, __double_as_longlong, (double x), emu::same_bits<long long>(x))
EMU_FUNCTION(double, __longlong_as_double, (long long x), emu::same_bits<double>(x))

// --- min and max: not templates, so that mixed types (int with unsigned, float with double) convert as in CUDA
#define EMU_MIN_MAX(result, a, b)                                                                                    \
    EMU_FUNCTION(result, min, (a x, b y),                                                                            \
                 static_cast<result>(x) < static_cast<result>(y) ? static_cast<result>(x) : static_cast<result>(y))  \
    EMU_FUNCTION(result, max, (a x, b y),                                                                            \
                 static_cast<result>(x) > static_cast<result>(y) ? static_cast<result>(x) : static_cast<result>(y))
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(unsigned, unsigned, unsigned)
EMU_MIN_MAX(unsigned, int, unsigned)
EMU_MIN_MAX(unsigned, unsigned, int)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(unsigned long, long, unsigned long)
EMU_MIN_MAX(unsigned long, unsigned long, long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef EMU_MIN_MAX
#define EMU_MIN_MAX(result, a, b, f)                                                                                 \
    EMU_FUNCTION(result, min, (a x, b y), fmin##f(x, y)) EMU_FUNCTION(result, max, (a x, b y), fmax##f(x, y))
EMU_MIN_MAX(float, float, float, f)
EMU_MIN_MAX(double, double, double, )
EMU_MIN_MAX(double, float, double, )
EMU_MIN_MAX(double, double, float, )
#undef EMU_MIN_MAX
#undef EMU_FUNCTION

// --- loads and stores with a cache hint
#define EMU_LOAD(name)                                                                                               \
    template <typename T> __device__ __forceinline__ T name(const T *address) {                                      \
        return *address;                                                                                             \
    }
#define EMU_STORE(name)                                                                                              \
    template <typename T>                                                                                            \
    __device__ __forceinline__ void name(T *address, typename std::enable_if<true, T>::type value) {                 \
        *address = value;                                                                                            \
    }
template <typename T> __device__ __forceinline__ T __ldg(const T *address) {
#ifdef EMULATOR_REPORTS
    emu_atomic_here(address, sizeof *address, EMU_READS | EMU_CACHED);
#endif
    return *address;
}
EMU_LOAD(__ldca)
EMU_LOAD(__ldcg)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldlu)
EMU_LOAD(__ldcv)
EMU_STORE(__stwb)
EMU_STORE(__stcg)
EMU_STORE(__stcs)
EMU_STORE(__stwt)
#undef EMU_LOAD
#undef EMU_STORE

#endif

// CUDA's numbers of 8 bits: e4m3 (4 bits of exponent, 3 of fraction, up to 448, no infinity) and e5m2 (the upper half
// of a half), and vectors of 2 and 4 of them. They have conversions, but no arithmetic. C++ only.
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace emu {
// Rounded to nearest, ties to even; what is then too large becomes the largest number, or if it may not be saturated,
// infinity or, in e4m3, NaN.
inline unsigned char to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) {
    const bool wide = format == __NV_E5M2;
    const int fraction = wide ? 2 : 3, lowest = wide ? -14 : -6; // the smallest normal number's exponent
    const double largest = wide ? 57344 : 448;
    const unsigned sign = std::signbit(x) ? 0x80 : 0;
    if (x != x) return 0x7f;
    int exponent = lowest;
    if (fabs(x) >= ldexp(1, lowest)) exponent = std::isinf(x) ? 1000 : ilogb(x);
    const double steps = nearbyint(ldexp(fabs(x), fraction - exponent)); // may be one step into the next exponent
    if (std::isinf(x) || ldexp(steps, exponent - fraction) > largest)
        return static_cast<unsigned char>(sign | (saturate == __NV_SATFINITE ? (wide ? 0x7b : 0x7e)
                                                  : wide                     ? 0x7c
                                                                             : 0x7f));
    return static_cast<unsigned char>(
        sign | (static_cast<unsigned>(steps) + (static_cast<unsigned>(exponent - lowest) << fraction)));
}
inline float from_fp8(unsigned char bits, __nv_fp8_interpretation_t format) { // exact
    const float sign = bits & 0x80 ? -1.0f : 1.0f;
    const int fraction = format == __NV_E5M2 ? 2 : 3, bias = format == __NV_E5M2 ? 15 : 7;
    const int magnitude = bits & 0x7f, exponent = magnitude >> fraction, rest = magnitude & ((1 << fraction) - 1);
    if (format == __NV_E4M3 ? magnitude == 0x7f : magnitude > 0x7c) return __int_as_float(0x7fffffff);
    if (format == __NV_E5M2 && magnitude == 0x7c) return sign * __int_as_float(0x7f800000);
    const int significand = exponent ? rest + (1 << fraction) : rest;
    return sign * ldexpf(static_cast<float>(significand), (exponent ? exponent : 1) - bias - fraction);
}
} // namespace emu

#define EMU_FP8(result, name, parameters, ...)                                                                       \
    __host__ __device__ inline result name parameters {                                                              \
        return static_cast<result>(__VA_ARGS__);                                                                     \
    }
EMU_FP8(__nv_fp8_storage_t, __nv_cvt_double_to_fp8,
        (double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format), emu::to_fp8(x, saturate, format))
EMU_FP8(__nv_fp8_storage_t, __nv_cvt_float_to_fp8,
        (float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format),
        emu::to_fp8(static_cast<double>(x), saturate, format))
EMU_FP8(__nv_fp8_storage_t, __nv_cvt_halfraw_to_fp8,
        (__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format),
        __nv_cvt_float_to_fp8(__half2float(__half(x)), saturate, format))
EMU_FP8(__nv_fp8_storage_t, __nv_cvt_bfloat16raw_to_fp8,
        (__nv_bfloat16_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format),
        __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(x)), saturate, format))
EMU_FP8(__nv_fp8x2_storage_t, __nv_cvt_double2_to_fp8x2,
        (double2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format),
        emu::to_fp8(x.x, saturate, format) | emu::to_fp8(x.y, saturate, format) << 8)
EMU_FP8(__nv_fp8x2_storage_t, __nv_cvt_float2_to_fp8x2,
        (float2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format),
        __nv_cvt_float_to_fp8(x.x, saturate, format) | __nv_cvt_float_to_fp8(x.y, saturate, format) << 8)
EMU_FP8(__nv_fp8x2_storage_t, __nv_cvt_halfraw2_to_fp8x2,
        (__half2_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format),
        __nv_cvt_halfraw_to_fp8({x.x}, saturate, format) | __nv_cvt_halfraw_to_fp8({x.y}, saturate, format) << 8)
EMU_FP8(__nv_fp8x2_storage_t, __nv_cvt_bfloat16raw2_to_fp8x2,
        (__nv_bfloat162_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format),
        __nv_cvt_bfloat16raw_to_fp8({x.x}, saturate, format) | __nv_cvt_bfloat16raw_to_fp8({x.y}, saturate, format)
                                                                   << 8)
EMU_FP8(__half_raw, __nv_cvt_fp8_to_halfraw, (__nv_fp8_storage_t x, __nv_fp8_interpretation_t format),
        __float2half_rn(emu::from_fp8(x, format)))
__host__ __device__ inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                                  __nv_fp8_interpretation_t format) {
    return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), format).x,
            __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format).x};
}
#undef EMU_FP8

// The types. Constructors saturate.
#define EMU_FP8_TYPES(name, format)                                                                                  \
    struct EMU_VISIBLE __nv_fp8_##name {                                                                             \
        __nv_fp8_storage_t __x;                                                                                      \
        __nv_fp8_##name() = default;                                                                                 \
        explicit __nv_fp8_##name(double x) : __x(emu::to_fp8(x, __NV_SATFINITE, format)) {}                          \
        explicit __nv_fp8_##name(float x) : __nv_fp8_##name(static_cast<double>(x)) {}                               \
        explicit __nv_fp8_##name(__half x) : __nv_fp8_##name(__half2float(x)) {}                                     \
        explicit __nv_fp8_##name(__nv_bfloat16 x) : __nv_fp8_##name(__bfloat162float(x)) {}                          \
        template <typename T, emu::if_integer<T> = 0>                                                                \
        explicit __nv_fp8_##name(T x) : __nv_fp8_##name(static_cast<double>(x)) {}                                   \
        explicit operator float() const { return emu::from_fp8(__x, format); }                                       \
        explicit operator double() const { return static_cast<double>(emu::from_fp8(__x, format)); }                 \
        explicit operator __half() const { return __float2half_rn(emu::from_fp8(__x, format)); }                     \
        explicit operator __nv_bfloat16() const { return __float2bfloat16_rn(emu::from_fp8(__x, format)); }          \
        explicit operator bool() const { return (__x & 0x7f) != 0; }                                                 \
        template <typename T, emu::if_integer<T> = 0> explicit operator T() const {                                  \
            return static_cast<T>(emu::from_fp8(__x, format));                                                       \
        }                                                                                                            \
    };                                                                                                               \
    struct EMU_VISIBLE __nv_fp8x2_##name {                                                                           \
        __nv_fp8x2_storage_t __x;                                                                                    \
        __nv_fp8x2_##name() = default;                                                                               \
        explicit __nv_fp8x2_##name(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, format)) {}           \
        explicit __nv_fp8x2_##name(double2 x) : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, format)) {}         \
        explicit __nv_fp8x2_##name(__half2 x) : __nv_fp8x2_##name(__half22float2(x)) {}                              \
        explicit __nv_fp8x2_##name(__nv_bfloat162 x) : __nv_fp8x2_##name(__bfloat1622float2(x)) {}                   \
        explicit operator float2() const {                                                                           \
            return {emu::from_fp8(static_cast<unsigned char>(__x), format),                                          \
                    emu::from_fp8(static_cast<unsigned char>(__x >> 8), format)};                                    \
        }                                                                                                            \
        explicit operator __half2() const { return __float22half2_rn(static_cast<float2>(*this)); }                  \
    };                                                                                                               \
    struct EMU_VISIBLE __nv_fp8x4_##name {                                                                           \
        __nv_fp8x4_storage_t __x;                                                                                    \
        __nv_fp8x4_##name() = default;                                                                               \
        explicit __nv_fp8x4_##name(float4 x)                                                                         \
            : __x(static_cast<unsigned>(__nv_fp8x2_##name(float2{x.x, x.y}).__x) |                                   \
                  static_cast<unsigned>(__nv_fp8x2_##name(float2{x.z, x.w}).__x) << 16) {}                           \
        explicit __nv_fp8x4_##name(double4 x)                                                                        \
            : __x(static_cast<unsigned>(__nv_fp8x2_##name(double2{x.x, x.y}).__x) |                                  \
                  static_cast<unsigned>(__nv_fp8x2_##name(double2{x.z, x.w}).__x) << 16) {}                          \
        explicit __nv_fp8x4_##name(__half2 low, __half2 high)                                                        \
            : __x(static_cast<unsigned>(__nv_fp8x2_##name(low).__x) |                                                \
                  static_cast<unsigned>(__nv_fp8x2_##name(high).__x) << 16) {}                                       \
        explicit operator float4() const {                                                                           \
            return {emu::from_fp8(static_cast<unsigned char>(__x), format),                                          \
                    emu::from_fp8(static_cast<unsigned char>(__x >> 8), format),                                     \
                    emu::from_fp8(static_cast<unsigned char>(__x >> 16), format),                                    \
                    emu::from_fp8(static_cast<unsigned char>(__x >> 24), format)};                                   \
        }                                                                                                            \
    };
EMU_FP8_TYPES(e4m3, __NV_E4M3)
EMU_FP8_TYPES(e5m2, __NV_E5M2)
#undef EMU_FP8_TYPES

#endif

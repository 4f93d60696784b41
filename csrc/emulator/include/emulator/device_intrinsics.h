// CUDA's intrinsic functions: fast ones with errors as on a GPU, float arithmetic in the four rounding modes,
// conversions, and functions of multiples of pi.
//
// The fast functions are computed as on a GPU, from base-2 exponentials and logarithms and from sines of a reduced
// argument. So their errors grow for the same arguments as on a GPU, stay within the limits that CUDA documents, and
// the functions fail where CUDA documents that they do (__fdividef by more than 2^126, __powf of a negative number).
// The bits differ from a GPU's.
#ifndef EMULATOR_DEVICE_INTRINSICS_H
#define EMULATOR_DEVICE_INTRINSICS_H

#include <limits>
#include <type_traits>

#include "device_math.h"

#define EMU_FUNCTION(type, name, parameters, ...)                                                                    \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }

// From this version on, the C library defines functions with these names; then they are used.
#if defined(__GLIBC__)
#define EMU_LIBC_SINCE(major, minor) __GLIBC_PREREQ(major, minor)
#else
#define EMU_LIBC_SINCE(major, minor) 0
#endif

// --- fast functions
namespace emu {
// A GPU's unit for special functions uses fixed-point numbers, so its error is absolute: near a zero of the function
// it is many units in the last place. With fractions of these lengths, the error stays within CUDA's documented
// limits and is as large as an H200's (docs/results/gpu_lab).
__forceinline__ double fixed(double x, int bits) {
    return ldexp(round(ldexp(x, bits)), -bits);
}
// Converts radians to turns. A GPU multiplies by 1 / (2 pi) in float, rounded toward zero, which is the other source
// of error.
__forceinline__ double angle(float x) {
    const double exact = static_cast<double>(x) * 0.159154943f;
    const float nearest = static_cast<float>(exact);
    const float turns = fabs(static_cast<double>(nearest)) > fabs(exact) ? nextafterf(nearest, 0) : nearest;
    return 6.283185307179586 * fixed(turns - rintf(turns), 24);
}
__forceinline__ float fast_log2(float x) {
    return x >= 0.5f && x <= 2 ? static_cast<float>(fixed(log2(static_cast<double>(x)), 22)) : log2f(x);
}
} // namespace emu
// The reciprocal of a number above 2^126 would be subnormal and is replaced by 0.
EMU_FUNCTION(float, __fdividef, (float x, float y), fabsf(y) > 0x1p126f ? x * copysignf(0, y) : x / y)
EMU_FUNCTION(float, fdividef, (float x, float y), x / y)
EMU_FUNCTION(float, __expf, (float x), exp2f(static_cast<float>(x * 1.4426950408889634)))
EMU_FUNCTION(float, __exp10f, (float x), exp2f(static_cast<float>(x * 3.321928094887362)))
EMU_FUNCTION(float, __log2f, (float x), emu::fast_log2(x))
EMU_FUNCTION(float, __logf, (float x), emu::fast_log2(x) * 0.693147181f)
EMU_FUNCTION(float, __log10f, (float x), emu::fast_log2(x) * 0.301029996f)
EMU_FUNCTION(float, __powf, (float x, float y), exp2f(y *emu::fast_log2(x)))
EMU_FUNCTION(float, __sinf, (float x), static_cast<float>(sin(emu::angle(x))))
EMU_FUNCTION(float, __cosf, (float x), static_cast<float>(cos(emu::angle(x))))
EMU_FUNCTION(float, __tanf, (float x), __fdividef(__sinf(x), __cosf(x)))
__host__ __device__ __forceinline__ void __sincosf(float x, float *sine, float *cosine) {
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
EMU_FUNCTION(float, __saturatef, (float x), x > 0 ? (x < 1 ? x : 1) : 0)
// Correctly rounded: the error in double is too small to reach a tie of floats (all significands were tested).
EMU_FUNCTION(float, __frsqrt_rn, (float x), static_cast<float>(1 / sqrt(static_cast<double>(x))))
#if !EMU_LIBC_SINCE(2, 42)
EMU_FUNCTION(float, rsqrtf, (float x), __frsqrt_rn(x))
EMU_FUNCTION(double, rsqrt, (double x), 1 / sqrt(x))
#endif

// --- float arithmetic rounded toward zero, up and down
namespace emu {
enum rounding { TOWARD_ZERO, UP, DOWN };

// The exact result is value + rest, where only the sign of `rest` matters. Returns the nearest float, or the adjacent
// one if the nearest is on the wrong side.
__forceinline__ float directed(double value, double rest, rounding how) {
    const float nearest = static_cast<float>(value);
    const double difference = value - static_cast<double>(nearest);
    const bool is_more = difference > 0 || (!(difference < 0) && rest > 0);
    const bool is_less = difference < 0 || (!(difference > 0) && rest < 0);
    const float infinite = std::numeric_limits<float>::infinity();
    const bool up = how == UP || (how == TOWARD_ZERO && value < 0);
    return up ? (is_more ? nextafterf(nearest, infinite) : nearest)
              : (is_less ? nextafterf(nearest, -infinite) : nearest);
}
// The rounding error of a sum of two doubles.
__forceinline__ double rest_of_sum(double x, double y, double sum) {
    const double part = sum - x, rest = (x - (sum - part)) + (y - part);
    return rest == rest ? rest : 0; // (0 for infinities)
}
__forceinline__ float directed_sum(double x, double y, rounding how) {
    const double sum = x + y;
    if (sum == 0 && how == DOWN && (x != 0 || signbit(x) != signbit(y))) return -0.0f; // x - x is -0 downward
    return directed(sum, rest_of_sum(x, y, sum), how);
}
// The sign of the rounding error of a quotient x / y or a root sqrt(x).
__forceinline__ double sign_of(double rest, double like) {
    return rest != rest || rest == 0 ? 0 : (rest < 0) == signbit(like) ? 1 : -1;
}
__forceinline__ float directed_quotient(float x, float y, rounding how) {
    const double quotient = static_cast<double>(x) / y;
    return directed(quotient, sign_of(fma(-quotient, y, x), y), how);
}
__forceinline__ float directed_root(float x, rounding how) {
    const double root = sqrt(static_cast<double>(x));
    return directed(root, sign_of(fma(-root, root, x), 1), how);
}
} // namespace emu
#define EMU_DIRECTED(mode, how)                                                                                      \
    EMU_FUNCTION(float, __fadd_##mode, (float x, float y), emu::directed_sum(x, y, emu::how))                        \
    EMU_FUNCTION(float, __fsub_##mode, (float x, float y), emu::directed_sum(x, -y, emu::how))                       \
    EMU_FUNCTION(float, __fmul_##mode, (float x, float y), emu::directed(static_cast<double>(x) * y, 0, emu::how))   \
    EMU_FUNCTION(float, __fmaf_##mode, (float x, float y, float z),                                                  \
                 emu::directed_sum(static_cast<double>(x) * y, z, emu::how))                                         \
    EMU_FUNCTION(float, __fdiv_##mode, (float x, float y), emu::directed_quotient(x, y, emu::how))                   \
    EMU_FUNCTION(float, __frcp_##mode, (float x), emu::directed_quotient(1, x, emu::how))                            \
    EMU_FUNCTION(float, __fsqrt_##mode, (float x), emu::directed_root(x, emu::how))
EMU_DIRECTED(rz, TOWARD_ZERO)
EMU_DIRECTED(ru, UP)
EMU_DIRECTED(rd, DOWN)
#undef EMU_DIRECTED

// --- conversions
namespace emu {
// Rounds toward zero; values out of range become the nearest integer in range. NaN becomes 0, or, if either type has
// 64 bits, the integer of which only the first bit is set.
template <typename Integer, typename Real> Integer saturated(Real value) {
    constexpr int digits = std::numeric_limits<Integer>::digits;
    const Real beyond = 2 * static_cast<Real>(UINT64_C(1) << (digits - 1));
    if (value != value)
        return sizeof(Integer) < 8 && sizeof(Real) < 8
                   ? 0
                   : static_cast<Integer>(UINT64_C(1) << (8 * sizeof(Integer) - 1));
    if (value >= beyond) return std::numeric_limits<Integer>::max();
    if (value <= (std::is_signed<Integer>::value ? -beyond : 0)) return std::numeric_limits<Integer>::min();
    return static_cast<Integer>(value);
}
// The nearest float in the direction of rounding.
template <typename Integer> float directed_float(Integer value, rounding how) {
    constexpr int digits = std::numeric_limits<Integer>::digits;
    const float nearest = static_cast<float>(value), beyond = 2 * static_cast<float>(UINT64_C(1) << (digits - 1));
    if (nearest >= beyond) return how == UP ? nearest : nextafterf(nearest, 0); // (it fits no integer)
    const Integer back = saturated<Integer>(nearest);
    return directed(nearest, back < value ? 1 : back > value ? -1 : 0, how);
}
} // namespace emu
#define EMU_TO_INTEGER(type, word)                                                                                   \
    EMU_FUNCTION(type, __float2##word##_rn, (float x), emu::saturated<type>(rintf(x)))                               \
    EMU_FUNCTION(type, __float2##word##_rz, (float x), emu::saturated<type>(x))                                      \
    EMU_FUNCTION(type, __float2##word##_ru, (float x), emu::saturated<type>(ceilf(x)))                               \
    EMU_FUNCTION(type, __float2##word##_rd, (float x), emu::saturated<type>(floorf(x)))                              \
    EMU_FUNCTION(type, __double2##word##_rn, (double x), emu::saturated<type>(rint(x)))                              \
    EMU_FUNCTION(type, __double2##word##_rz, (double x), emu::saturated<type>(x))                                    \
    EMU_FUNCTION(type, __double2##word##_ru, (double x), emu::saturated<type>(ceil(x)))                              \
    EMU_FUNCTION(type, __double2##word##_rd, (double x), emu::saturated<type>(floor(x)))                             \
    EMU_FUNCTION(float, __##word##2float_rn, (type x), static_cast<float>(x))                                        \
    EMU_FUNCTION(float, __##word##2float_rz, (type x), emu::directed_float<type>(x, emu::TOWARD_ZERO))               \
    EMU_FUNCTION(float, __##word##2float_ru, (type x), emu::directed_float<type>(x, emu::UP))                        \
    EMU_FUNCTION(float, __##word##2float_rd, (type x), emu::directed_float<type>(x, emu::DOWN))
EMU_TO_INTEGER(int, int)
EMU_TO_INTEGER(unsigned, uint)
EMU_TO_INTEGER(long long, ll)
EMU_TO_INTEGER(unsigned long long, ull)
#undef EMU_TO_INTEGER

#if !EMU_LIBC_SINCE(2, 41)
// --- functions of pi: exact where the result is 0, 1/2, 1
namespace emu {
// sin(pi * x): directly for x from -1/4 to 1/4, otherwise as a cosine of the rest.
__forceinline__ double sine_of_turn(double x) { // x from -1 to 1, in half turns
    const double pi = 3.141592653589793, side = fabs(x) > 0.5 ? copysign(1 - fabs(x), x) : x;
    if (side == 0) return copysign(0.0, x);
    return fabs(side) <= 0.25 ? sin(pi * side) : copysign(cos(pi * (0.5 - fabs(side))), side);
}
__forceinline__ double sine_of_pi(double x) {
    const double rest = remainder(x, 2.0);
    return rest == rint(rest) ? copysign(0.0, x) : sine_of_turn(rest);
}
__forceinline__ double cosine_of_pi(double x) {
    const double rest = fabs(remainder(x, 2.0)); // from 0 to 1
    return rest == 0.5 ? 0.0 : sine_of_turn(0.5 - rest);
}
} // namespace emu
EMU_FUNCTION(double, sinpi, (double x), x - x != 0 ? x - x : emu::sine_of_pi(x))
EMU_FUNCTION(double, cospi, (double x), x - x != 0 ? x - x : emu::cosine_of_pi(x))
EMU_FUNCTION(float, sinpif, (float x), static_cast<float>(sinpi(static_cast<double>(x))))
EMU_FUNCTION(float, cospif, (float x), static_cast<float>(cospi(static_cast<double>(x))))
#endif
__host__ __device__ __forceinline__ void sincospif(float x, float *sine, float *cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
__host__ __device__ __forceinline__ void sincospi(double x, double *sine, double *cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
EMU_FUNCTION(float, rcbrtf, (float x), static_cast<float>(1 / cbrt(static_cast<double>(x))))
EMU_FUNCTION(double, rcbrt, (double x), 1 / cbrt(x))
EMU_FUNCTION(float, rhypotf, (float x, float y), static_cast<float>(1 / hypot(static_cast<double>(x), y)))
EMU_FUNCTION(float, normcdff, (float x), static_cast<float>(0.5 * erfc(-0.7071067811865476 * x)))
EMU_FUNCTION(double, normcdf, (double x), 0.5 * erfc(-0.7071067811865476 * x))

// --- integers
// The low 32 bits of the product of the low 24 bits.
EMU_FUNCTION(int, __mul24, (int x, int y),
             static_cast<int>(static_cast<long long>(static_cast<int>(static_cast<unsigned>(x) << 8) >> 8) *
                              (static_cast<int>(static_cast<unsigned>(y) << 8) >> 8)))
EMU_FUNCTION(unsigned, __umul24, (unsigned x, unsigned y), (x & 0xffffff) * (y & 0xffffff))
__extension__ typedef __int128 emu_int128;
EMU_FUNCTION(long long, __mul64hi, (long long x, long long y),
             static_cast<long long>(static_cast<emu_int128>(x) * y >> 64))
EMU_FUNCTION(unsigned, __usad, (unsigned x, unsigned y, unsigned z), (x > y ? x - y : y - x) + z)
EMU_FUNCTION(unsigned, __sad, (int x, int y, unsigned z),
             (x > y ? static_cast<unsigned>(x) - static_cast<unsigned>(y)
                    : static_cast<unsigned>(y) - static_cast<unsigned>(x)) +
                 z)
EMU_FUNCTION(int, __hadd, (int x, int y), static_cast<int>((static_cast<long long>(x) + y) >> 1))
EMU_FUNCTION(int, __rhadd, (int x, int y), static_cast<int>((static_cast<long long>(x) + y + 1) >> 1))
EMU_FUNCTION(unsigned, __uhadd, (unsigned x, unsigned y),
             static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1))
EMU_FUNCTION(unsigned, __urhadd, (unsigned x, unsigned y),
             static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1))
// Four of eight bytes, each selected by three bits of the selector.
__host__ __device__ __forceinline__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) result |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
#undef EMU_FUNCTION
#undef EMU_LIBC_SINCE

#endif

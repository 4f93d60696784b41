// Arithmetic of doubles rounded toward zero, up and down; conversions between doubles and other numbers.
//
// Each result is the nearest double, or its neighbor, if the nearest one is on the wrong side of the exact result.
// The processor's rounding mode stays as it is. The side is the sign of x * y + z - r, which is computed exactly, as
// a sum of doubles none of which overlap.
#ifndef EMULATOR_DEVICE_ROUNDING_H
#define EMULATOR_DEVICE_ROUNDING_H

#include "device_intrinsics.h"

#define EMU_FUNCTION(type, name, parameters, ...)                                                                    \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }

namespace emu {
inline int sign_of_sum(const double (&terms)[4]) {
    double parts[4]; // of the same sum, rising and without overlap
    for (int n = 0; n < 4; ++n) {
        double sum = terms[n];
        for (int i = 0; i < n; ++i) {
            const double before = sum;
            sum = before + parts[i];
            parts[i] = rest_of_sum(before, parts[i], sum);
        }
        parts[n] = sum;
    }
    for (int i = 4; i-- > 0;)
        if (parts[i] != 0) return parts[i] > 0 ? 1 : -1;
    return 0;
}

// The sign of x * y + z - r, where r is about x * y + z, for finite numbers. They are scaled, so that nothing
// overflows or underflows; what is too small to matter next to the rest is replaced by something less small.
inline int sign_of_rest(double x, double y, double z, double r) {
    int x_exponent, y_exponent, exponent;
    const double x_part = frexp(x, &x_exponent), y_part = frexp(y, &y_exponent);
    double high = x_part * y_part, low = fma(x_part, y_part, -high), sum = frexp(z, &exponent);
    const int difference = x_exponent + y_exponent - exponent; // of the product's exponent and z's
    if (high != 0 && z != 0 && difference < -300) {
        high = copysign(0x1p-250, high), low = 0;
    } else if (high != 0 && (z == 0 || difference > 0)) {
        exponent += difference;
        sum = difference > 300 && z != 0 ? copysign(0x1p-250, z) : ldexp(sum, -difference);
    } else {
        high = ldexp(high, difference), low = ldexp(low, difference);
    }
    return sign_of_sum({high, low, sum, -ldexp(r, -exponent)});
}

__forceinline__ double beside(double nearest, int sign, rounding how) { // `sign`: of the exact result - nearest
    const double infinite = std::numeric_limits<double>::infinity();
    const bool negative = nearest != 0 ? nearest < 0 : sign < 0;
    const bool up = how == UP || (how == TOWARD_ZERO && negative);
    return up ? (sign > 0 ? nextafter(nearest, infinite) : nearest)
              : (sign < 0 ? nextafter(nearest, -infinite) : nearest);
}
__forceinline__ int sign_of_overflow(double nearest) {
    return nearest > 0 ? -1 : 1;
}
inline double directed_fma(double x, double y, double z, rounding how) {
    const double nearest = fma(x, y, z);
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return nearest;
    const int sign = std::isinf(nearest) ? sign_of_overflow(nearest) : sign_of_rest(x, y, z, nearest);
    const bool opposite = signbit(z) != (signbit(x) != signbit(y));
    if (nearest == 0 && sign == 0 && opposite) return how == DOWN ? -0.0 : 0.0; // x - x is -0 downward
    return beside(nearest, sign, how);
}
inline double directed_product(double x, double y, rounding how) {
    return directed_fma(x, y, signbit(x) != signbit(y) ? -0.0 : 0.0, how);
}
inline double directed_ratio(double x, double y, rounding how) {
    const double nearest = x / y;
    if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) return nearest;
    const int rest = std::isinf(nearest) ? 0 : sign_of_rest(-nearest, y, x, 0);
    return beside(nearest, std::isinf(nearest) ? sign_of_overflow(nearest) : y < 0 ? -rest : rest, how);
}
inline double directed_square_root(double x, rounding how) {
    const double nearest = sqrt(x);
    return x > 0 && std::isfinite(x) ? beside(nearest, sign_of_rest(-nearest, nearest, x, 0), how) : nearest;
}
template <typename Integer> double directed_double(Integer value, rounding how) {
    const double nearest = static_cast<double>(value);
    const emu_int128 difference = static_cast<emu_int128>(value) - static_cast<emu_int128>(nearest);
    return beside(nearest, difference > 0 ? 1 : difference < 0 ? -1 : 0, how);
}
} // namespace emu

#define EMU_DIRECTED(mode, how)                                                                                      \
    EMU_FUNCTION(double, __dadd_##mode, (double x, double y), emu::directed_fma(x, 1, y, emu::how))                  \
    EMU_FUNCTION(double, __dsub_##mode, (double x, double y), emu::directed_fma(x, 1, -y, emu::how))                 \
    EMU_FUNCTION(double, __dmul_##mode, (double x, double y), emu::directed_product(x, y, emu::how))                 \
    EMU_FUNCTION(double, __fma_##mode, (double x, double y, double z), emu::directed_fma(x, y, z, emu::how))         \
    EMU_FUNCTION(double, __ddiv_##mode, (double x, double y), emu::directed_ratio(x, y, emu::how))                   \
    EMU_FUNCTION(double, __drcp_##mode, (double x), emu::directed_ratio(1, x, emu::how))                             \
    EMU_FUNCTION(double, __dsqrt_##mode, (double x), emu::directed_square_root(x, emu::how))                         \
    EMU_FUNCTION(float, __double2float_##mode, (double x), emu::directed(x, 0, emu::how))                            \
    EMU_FUNCTION(double, __ll2double_##mode, (long long x), emu::directed_double(x, emu::how))                       \
    EMU_FUNCTION(double, __ull2double_##mode, (unsigned long long x), emu::directed_double(x, emu::how))             \
    EMU_FUNCTION(float, __fmaf_ieee_##mode, (float x, float y, float z), __fmaf_##mode(x, y, z))
EMU_DIRECTED(rz, TOWARD_ZERO)
EMU_DIRECTED(ru, UP)
EMU_DIRECTED(rd, DOWN)
#undef EMU_DIRECTED
EMU_FUNCTION(float, __double2float_rn, (double x), static_cast<float>(x))
EMU_FUNCTION(double, __int2double_rn, (int x), x)
EMU_FUNCTION(double, __uint2double_rn, (unsigned x), x)
EMU_FUNCTION(double, __ll2double_rn, (long long x), static_cast<double>(x))
EMU_FUNCTION(double, __ull2double_rn, (unsigned long long x), static_cast<double>(x))
EMU_FUNCTION(float, __fmaf_ieee_rn, (float x, float y, float z), fmaf(x, y, z))
EMU_FUNCTION(int, __double2hiint, (double x), static_cast<int>(emu::same_bits<long long>(x) >> 32))
EMU_FUNCTION(int, __double2loint, (double x), static_cast<int>(emu::same_bits<long long>(x)))
EMU_FUNCTION(double, __hiloint2double, (int high, int low),
             emu::same_bits<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                                    static_cast<unsigned>(low)))
#undef EMU_FUNCTION

#endif

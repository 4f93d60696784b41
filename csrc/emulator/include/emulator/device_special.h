// Mathematical functions of CUDA that the C library lacks: inverse error functions, norms, Bessel functions. The
// float versions are computed as doubles.
#ifndef EMULATOR_DEVICE_SPECIAL_H
#define EMULATOR_DEVICE_SPECIAL_H

#include "device_intrinsics.h"

#define EMU_FUNCTION(type, name, parameters, ...)                                                                    \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }
#define EMU_FLOAT_VERSION(name)                                                                                      \
    EMU_FUNCTION(float, name##f, (float x), static_cast<float>(name(static_cast<double>(x))))

namespace emu {
// The positive y with erf(y) = x, erfc(y) = 1 - x = rest: an approximation (Winitzki's), improved by Halley's method.
// The smaller of x and rest is accurate.
inline double inverse_erf(double x, double rest) {
    const double logarithm = log(rest * (1 + x)), a = 4.330746750799873 + logarithm / 2; // 2 / (0.147 pi)
    double y = x < 0.5 ? 0.886226925452758 * x : sqrt(sqrt(a * a - logarithm / 0.147) - a);
    for (int i = 0; i < 4; ++i) {
        const double error = x < 0.5 ? x - erf(y) : erfc(y) - rest;
        const double step = error / (1.1283791670955126 * exp(-y * y)); // 2 / sqrt(pi)
        y += step / (1 - y * step);
    }
    return y;
}
inline double bessel_i(int order, double x) { // the power series, whose terms are all of one sign
    if (!(fabs(x) < 1000)) return order && x < 0 ? x : fabs(x) * std::numeric_limits<double>::infinity();
    const long double quarter = static_cast<long double>(x) * x / 4;
    long double term = order ? x / 2 : 1, sum = 0;
    for (int k = 1; sum + term != sum; ++k) {
        sum += term;
        term *= quarter / (static_cast<long double>(k) * (k + order));
    }
    return static_cast<double>(sum);
}
// The root of a sum of squares, in a type with more range.
template <typename Wide, typename T> Wide norm_of(int n, const T *x) {
    Wide sum = 0;
    for (int i = 0; i < n; ++i) {
        if (std::isinf(x[i])) return std::numeric_limits<Wide>::infinity();
        sum += static_cast<Wide>(x[i]) * static_cast<Wide>(x[i]);
    }
    return std::sqrt(sum);
}
} // namespace emu

__host__ __device__ inline double erfinv(double x) {
    if (!(fabs(x) < 1)) return fabs(x) == 1 ? x * std::numeric_limits<double>::infinity() : NAN;
    return copysign(emu::inverse_erf(fabs(x), 1 - fabs(x)), x);
}
__host__ __device__ inline double erfcinv(double x) {
    if (!(x > 0) || x > 0.5) return x == 0 ? std::numeric_limits<double>::infinity() : erfinv(1 - x);
    return emu::inverse_erf(1 - x, x);
}
EMU_FUNCTION(double, normcdfinv, (double x), -1.4142135623730951 * erfcinv(2 * x))
// exp(x * x) * erfc(x), for large x by its asymptotic series.
__host__ __device__ inline double erfcx(double x) {
    if (x > 26) {
        const double small = 0.5 / (x * x);
        double series = 1;
        for (int n = 8; n > 0; --n) series = 1 - (2 * n - 1) * small * series;
        return 0.5641895835477563 / x * series;
    }
    const double square = x * x;
    return x < -27 ? std::numeric_limits<double>::infinity() : exp(square) * (1 + fma(x, x, -square)) * erfc(x);
}
EMU_FUNCTION(double, cyl_bessel_i0, (double x), emu::bessel_i(0, x))
EMU_FUNCTION(double, cyl_bessel_i1, (double x), emu::bessel_i(1, x))
EMU_FLOAT_VERSION(erfinv)
EMU_FLOAT_VERSION(erfcinv)
EMU_FLOAT_VERSION(normcdfinv)
EMU_FLOAT_VERSION(erfcx)
EMU_FLOAT_VERSION(cyl_bessel_i0)
EMU_FLOAT_VERSION(cyl_bessel_i1)
#undef EMU_FLOAT_VERSION

#define EMU_NORMS(T, Wide, f)                                                                                        \
    EMU_FUNCTION(T, norm##f, (int n, const T *x), static_cast<T>(emu::norm_of<Wide>(n, x)))                          \
    EMU_FUNCTION(T, rnorm##f, (int n, const T *x), static_cast<T>(1 / emu::norm_of<Wide>(n, x)))                     \
    __host__ __device__ inline T norm3d##f(T a, T b, T c) {                                                          \
        const T x[] = {a, b, c};                                                                                     \
        return norm##f(3, x);                                                                                        \
    }                                                                                                                \
    __host__ __device__ inline T rnorm3d##f(T a, T b, T c) {                                                         \
        const T x[] = {a, b, c};                                                                                     \
        return rnorm##f(3, x);                                                                                       \
    }                                                                                                                \
    __host__ __device__ inline T norm4d##f(T a, T b, T c, T d) {                                                     \
        const T x[] = {a, b, c, d};                                                                                  \
        return norm##f(4, x);                                                                                        \
    }                                                                                                                \
    __host__ __device__ inline T rnorm4d##f(T a, T b, T c, T d) {                                                    \
        const T x[] = {a, b, c, d};                                                                                  \
        return rnorm##f(4, x);                                                                                       \
    }
EMU_NORMS(float, double, f)
EMU_NORMS(double, long double, )
#undef EMU_NORMS
EMU_FUNCTION(double, rhypot, (double x, double y), 1 / hypot(x, y))
#undef EMU_FUNCTION

#endif

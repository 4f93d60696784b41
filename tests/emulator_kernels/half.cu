// Half precision and bfloat16: conversions both ways by CUDA's names, arithmetic, and CUDA's functions of them. An
// entry a conversion; numbers of 16 bits travel as their bits.
#include "kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define CAST(name, From, To, expression)                                                                             \
    __global__ void name(const From *in, To *out, int n) {                                                           \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                          \
        const From x = in[i];                                                                                        \
        out[i] = expression;                                                                                         \
    }                                                                                                                \
    ENTRY run_##name(const Shape *shape, const From *in, To *out, int n) {                                           \
        return launch(shape, name, in, out, n);                                                                      \
    }

typedef unsigned short bits;
typedef long long int64;
typedef unsigned long long uint64;

CAST(half_to_float, bits, float, __half2float(__ushort_as_half(x)))
CAST(half_as_float, bits, float, static_cast<float>(__ushort_as_half(x)))
CAST(half_as_double, bits, double, __ushort_as_half(x))
CAST(half_as_bool, bits, unsigned char, static_cast<bool>(__ushort_as_half(x)))
CAST(half_as_int8, bits, signed char, static_cast<signed char>(__ushort_as_half(x)))
CAST(half_as_uint8, bits, unsigned char, static_cast<unsigned char>(__ushort_as_half(x)))
CAST(half_as_int16, bits, short, static_cast<short>(__ushort_as_half(x)))
CAST(half_as_uint16, bits, unsigned short, static_cast<unsigned short>(__ushort_as_half(x)))
CAST(half_as_int32, bits, int, static_cast<int>(__ushort_as_half(x)))
CAST(half_as_uint32, bits, unsigned, static_cast<unsigned>(__ushort_as_half(x)))
CAST(half_as_int64, bits, int64, static_cast<int64>(__ushort_as_half(x)))
CAST(half_as_uint64, bits, uint64, static_cast<uint64>(__ushort_as_half(x)))
CAST(half_negated, bits, bits, __half_as_ushort(-__ushort_as_half(x)))

CAST(half_from_float, float, bits, __half_as_ushort(__float2half(x)))
CAST(half_from_float_rn, float, bits, __half_as_ushort(__float2half_rn(x)))
CAST(half_of_float, float, bits, __half_as_ushort(__half(x)))
CAST(half_from_double, double, bits, __half_as_ushort(__double2half(x)))
CAST(half_of_double, double, bits, __half_as_ushort(__half(x)))
CAST(half_of_int16, short, bits, __half_as_ushort(__half(x)))
CAST(half_of_uint16, unsigned short, bits, __half_as_ushort(__half(x)))
CAST(half_of_int32, int, bits, __half_as_ushort(__half(x)))
CAST(half_of_uint32, unsigned, bits, __half_as_ushort(__half(x)))
CAST(half_of_int64, int64, bits, __half_as_ushort(__half(x)))
CAST(half_of_uint64, uint64, bits, __half_as_ushort(__half(x)))

CAST(bfloat16_to_float, bits, float, __bfloat162float(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_float, bits, float, static_cast<float>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_double, bits, double, __ushort_as_bfloat16(x))
CAST(bfloat16_as_bool, bits, unsigned char, static_cast<bool>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_int8, bits, signed char, static_cast<signed char>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_uint8, bits, unsigned char, static_cast<unsigned char>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_int16, bits, short, static_cast<short>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_uint16, bits, unsigned short, static_cast<unsigned short>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_int32, bits, int, static_cast<int>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_uint32, bits, unsigned, static_cast<unsigned>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_int64, bits, int64, static_cast<int64>(__ushort_as_bfloat16(x)))
CAST(bfloat16_as_uint64, bits, uint64, static_cast<uint64>(__ushort_as_bfloat16(x)))
CAST(bfloat16_negated, bits, bits, __bfloat16_as_ushort(-__ushort_as_bfloat16(x)))

CAST(bfloat16_from_float, float, bits, __bfloat16_as_ushort(__float2bfloat16(x)))
CAST(bfloat16_from_float_rn, float, bits, __bfloat16_as_ushort(__float2bfloat16_rn(x)))
CAST(bfloat16_of_float, float, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))
CAST(bfloat16_from_double, double, bits, __bfloat16_as_ushort(__double2bfloat16(x)))
CAST(bfloat16_of_double, double, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))
CAST(bfloat16_of_int16, short, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))
CAST(bfloat16_of_uint16, unsigned short, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))
CAST(bfloat16_of_int32, int, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))
CAST(bfloat16_of_uint32, unsigned, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))
CAST(bfloat16_of_int64, int64, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))
CAST(bfloat16_of_uint64, uint64, bits, __bfloat16_as_ushort(__nv_bfloat16(x)))

// --- arithmetic: the four results of each pair, then how it compares
template <typename Number, typename Raw>
__global__ void calculate(const Raw *x, const Raw *y, Raw *results, unsigned char *order, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Number a = x[i], b = y[i];
    Number sum = a;
    sum += b;
    results[4 * i] = sum;
    results[4 * i + 1] = a - b;
    results[4 * i + 2] = a * b;
    results[4 * i + 3] = a / b;
    order[i] = (a == b) | (a != b) << 1 | (a < b) << 2 | (a > b) << 3 | (a <= b) << 4 | (a >= b) << 5;
}

ENTRY run_half_calculate(const Shape *shape, const __half_raw *x, const __half_raw *y, __half_raw *results,
                         unsigned char *order, int n) {
    return launch(shape, calculate<__half, __half_raw>, x, y, results, order, n);
}
ENTRY run_bfloat16_calculate(const Shape *shape, const __nv_bfloat16_raw *x, const __nv_bfloat16_raw *y,
                             __nv_bfloat16_raw *results, unsigned char *order, int n) {
    return launch(shape, calculate<__nv_bfloat16, __nv_bfloat16_raw>, x, y, results, order, n);
}

// --- conversions in four ways of rounding: a row of an element's four results
#define CAST_MODES(name, From, To, from, function, to)                                                               \
    __global__ void name(const From *in, To *out, int n) {                                                           \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                          \
        out[4 * i] = to(function##_rn(from(in[i])));                                                                 \
        out[4 * i + 1] = to(function##_rz(from(in[i])));                                                             \
        out[4 * i + 2] = to(function##_ru(from(in[i])));                                                             \
        out[4 * i + 3] = to(function##_rd(from(in[i])));                                                             \
    }                                                                                                                \
    ENTRY run_##name(const Shape *shape, const From *in, To *out, int n) {                                           \
        return launch(shape, name, in, out, n);                                                                      \
    }
#define CAST_INTEGER(kind, type, word)                                                                               \
    CAST_MODES(kind##_to_##word, bits, type, __ushort_as_##kind, __##kind##2##word, )                                \
    CAST_MODES(kind##_of_##word, type, bits, , __##word##2##kind, __##kind##_as_ushort)
#define CAST_ALL(kind)                                                                                               \
    CAST_MODES(kind##_of_float_by, float, bits, , __float2##kind, __##kind##_as_ushort)                              \
    CAST(kind##_to_char, bits, signed char, __##kind##2char_rz(__ushort_as_##kind(x)))                               \
    CAST(kind##_to_uchar, bits, unsigned char, __##kind##2uchar_rz(__ushort_as_##kind(x)))                           \
    CAST(kind##_by_short, bits, short, __##kind##_as_short(__short_as_##kind(static_cast<short>(x))))                \
    CAST_INTEGER(kind, short, short)                                                                                 \
    CAST_INTEGER(kind, unsigned short, ushort)                                                                       \
    CAST_INTEGER(kind, int, int)                                                                                     \
    CAST_INTEGER(kind, unsigned, uint)                                                                               \
    CAST_INTEGER(kind, int64, ll)                                                                                    \
    CAST_INTEGER(kind, uint64, ull)
CAST_ALL(half)
CAST_ALL(bfloat16)

// --- functions: a row of the results of all of a list
#define UNARY(X)                                                                                                     \
    X(__hneg)                                                                                                        \
    X(__habs)                                                                                                        \
    X(hsqrt)                                                                                                         \
    X(hrsqrt)                                                                                                        \
    X(hrcp)                                                                                                          \
    X(hexp)                                                                                                          \
    X(hexp2) X(hexp10) X(hlog) X(hlog2) X(hlog10) X(hsin) X(hcos) X(htanh) X(hceil) X(hfloor) X(htrunc) X(hrint)
#define BINARY(X)                                                                                                    \
    X(__hadd)                                                                                                        \
    X(__hadd_rn)                                                                                                     \
    X(__hadd_sat)                                                                                                    \
    X(__hsub)                                                                                                        \
    X(__hsub_rn)                                                                                                     \
    X(__hsub_sat) X(__hmul) X(__hmul_rn) X(__hmul_sat) X(__hdiv) X(__hmin) X(__hmax) X(__hmin_nan) X(__hmax_nan)
#define TERNARY(X) X(__hfma) X(__hfma_sat) X(__hfma_relu)
#define COMPARISONS(X)                                                                                               \
    X(__heq) X(__hne) X(__hlt) X(__hle) X(__hgt) X(__hge) X(__hequ) X(__hneu) X(__hltu) X(__hleu) X(__hgtu) X(__hgeu)

template <typename Number, typename Raw>
__global__ void functions(const Raw *x, const Raw *y, const Raw *z, Raw *unary, Raw *binary, Raw *ternary,
                          unsigned char *compared, signed char *classes, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Number a = x[i], b = y[i], c = z[i];
    int at = 0;
#define X(name) unary[18 * i + at++] = name(a);
    UNARY(X)
#undef X
    at = 0;
#define X(name) binary[14 * i + at++] = name(a, b);
    BINARY(X)
#undef X
    at = 0;
#define X(name) ternary[3 * i + at++] = name(a, b, c);
    TERNARY(X)
#undef X
    at = 0;
#define X(name) compared[12 * i + at++] = name(a, b);
    COMPARISONS(X)
#undef X
    classes[2 * i] = static_cast<signed char>(__hisnan(a));
    classes[2 * i + 1] = static_cast<signed char>(__hisinf(a));
}

ENTRY run_half_functions(const Shape *shape, const __half_raw *x, const __half_raw *y, const __half_raw *z,
                         __half_raw *unary, __half_raw *binary, __half_raw *ternary, unsigned char *compared,
                         signed char *classes, int n) {
    return launch(shape, functions<__half, __half_raw>, x, y, z, unary, binary, ternary, compared, classes, n);
}
ENTRY run_bfloat16_functions(const Shape *shape, const __nv_bfloat16_raw *x, const __nv_bfloat16_raw *y,
                             const __nv_bfloat16_raw *z, __nv_bfloat16_raw *unary, __nv_bfloat16_raw *binary,
                             __nv_bfloat16_raw *ternary, unsigned char *compared, signed char *classes, int n) {
    return launch(shape, functions<__nv_bfloat16, __nv_bfloat16_raw>, x, y, z, unary, binary, ternary, compared,
                  classes, n);
}

// --- between threads: four shuffles of a warp, and a sum by all
template <typename Number, typename Raw> __global__ void exchange(const Raw *x, Raw *out, Raw *sum) {
    const int lane = threadIdx.x;
    const Number value = x[lane];
    out[4 * lane] = __shfl_sync(0xffffffff, value, 5);
    out[4 * lane + 1] = __shfl_up_sync(0xffffffff, value, 3);
    out[4 * lane + 2] = __shfl_down_sync(0xffffffff, value, 3);
    out[4 * lane + 3] = __shfl_xor_sync(0xffffffff, value, 9);
    atomicAdd(reinterpret_cast<Number *>(sum), value);
}
ENTRY run_half_exchange(const Shape *shape, const __half_raw *x, __half_raw *out, __half_raw *sum) {
    return launch(shape, exchange<__half, __half_raw>, x, out, sum);
}
ENTRY run_bfloat16_exchange(const Shape *shape, const __nv_bfloat16_raw *x, __nv_bfloat16_raw *out,
                            __nv_bfloat16_raw *sum) {
    return launch(shape, exchange<__nv_bfloat16, __nv_bfloat16_raw>, x, out, sum);
}

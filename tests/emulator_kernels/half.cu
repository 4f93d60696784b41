// Half precision and bfloat16: conversions both ways by CUDA's names, and arithmetic. An entry a conversion; numbers of
// 16 bits travel as their bits.
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

// Pairs of 16-bit numbers: each function of pairs next to the function of one number, conversions, shuffles, atomics.
#include "kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned short bits;

// clang-format off
#define UNARY(X)                                                                                                     \
    X(__hneg2, __hneg) X(__habs2, __habs) X(h2ceil, hceil) X(h2floor, hfloor) X(h2trunc, htrunc) X(h2rint, hrint)    \
    X(-, -) X(+, +) X(h2sqrt, hsqrt) X(h2rsqrt, hrsqrt) X(h2rcp, hrcp) X(h2exp, hexp) X(h2exp2, hexp2)               \
    X(h2exp10, hexp10) X(h2log, hlog) X(h2log2, hlog2) X(h2log10, hlog10) X(h2sin, hsin) X(h2cos, hcos)              \
    X(h2tanh, htanh) X(h2tanh_approx, htanh_approx)
#define BINARY(X)                                                                                                    \
    X(__hadd2, __hadd) X(__hadd2_rn, __hadd_rn) X(__hadd2_sat, __hadd_sat) X(__hsub2, __hsub)                        \
    X(__hsub2_rn, __hsub_rn) X(__hsub2_sat, __hsub_sat) X(__hmul2, __hmul) X(__hmul2_rn, __hmul_rn)                  \
    X(__hmul2_sat, __hmul_sat) X(__h2div, __hdiv) X(__hmin2, __hmin) X(__hmax2, __hmax)                              \
    X(__hmin2_nan, __hmin_nan) X(__hmax2_nan, __hmax_nan)
#define TERNARY(X) X(__hfma2, __hfma) X(__hfma2_sat, __hfma_sat) X(__hfma2_relu, __hfma_relu)
#define COMPARISONS(X) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu)
// clang-format on
#define ONE(...) +1
enum { ONE_NUMBER = UNARY(ONE), TWO = BINARY(ONE), THREE = TERNARY(ONE), COMPARED = COMPARISONS(ONE) };
#undef ONE

// --- Each row: what the function of pairs gives, and what the function of numbers gives for both. A comparison also
// gives the mask, and whether it is true for both.
template <typename Pair> __device__ unsigned word(Pair pair) {
    unsigned result;
    memcpy(&result, &pair, sizeof result);
    return result;
}
template <typename Pair, typename Number>
__global__ void functions(const Pair *x, const Pair *y, const Pair *z, unsigned *results, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const Pair a = x[i], b = y[i], c = z[i];
    const Number one = 1.0f, zero = 0.0f;
    unsigned *out = results + i * (2 * (ONE_NUMBER + TWO + THREE) + 6 * COMPARED + 2);
#define X(pairs, numbers) *out++ = word(Pair(pairs(a))), *out++ = word(Pair(numbers(a.x), numbers(a.y)));
    UNARY(X)
#undef X
#define X(pairs, numbers) *out++ = word(pairs(a, b)), *out++ = word(Pair(numbers(a.x, b.x), numbers(a.y, b.y)));
    BINARY(X)
#undef X
#define X(pairs, numbers)                                                                                            \
    *out++ = word(pairs(a, b, c)), *out++ = word(Pair(numbers(a.x, b.x, c.x), numbers(a.y, b.y, c.y)));
    TERNARY(X)
#undef X
#define X(name)                                                                                                      \
    {                                                                                                                \
        const bool low = __h##name(a.x, b.x), high = __h##name(a.y, b.y);                                            \
        *out++ = word(__h##name##2(a, b)), *out++ = word(Pair(low ? one : zero, high ? one : zero));                 \
        *out++ = __h##name##2_mask(a, b), *out++ = (low ? 0xffffu : 0) | (high ? 0xffff0000u : 0);                   \
        *out++ = __hb##name##2(a, b), *out++ = low && high;                                                          \
    }
    COMPARISONS(X)
#undef X
    *out++ = word(__hisnan2(a)), *out++ = word(Pair(__hisnan(a.x) ? one : zero, __hisnan(a.y) ? one : zero));
}
ENTRY run_half2_functions(const Shape *shape, const __half2 *x, const __half2 *y, const __half2 *z, unsigned *results,
                          int n) {
    return launch(shape, functions<__half2, __half>, x, y, z, results, n);
}
ENTRY run_bfloat162_functions(const Shape *shape, const __nv_bfloat162 *x, const __nv_bfloat162 *y,
                              const __nv_bfloat162 *z, unsigned *results, int n) {
    return launch(shape, functions<__nv_bfloat162, __nv_bfloat16>, x, y, z, results, n);
}
extern "C" __attribute__((visibility("default"))) int function_columns() {
    return 2 * (ONE_NUMBER + TWO + THREE) + 6 * COMPARED + 2;
}

// --- operators: 9 results, and 6 comparisons as bits
template <typename Pair> __global__ void operators(const Pair *x, const Pair *y, unsigned *results, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const Pair a = x[i], b = y[i];
    Pair sum = a, difference = a, product = a, quotient = a, up = a, down = a;
    sum += b, difference -= b, product *= b, quotient /= b;
    unsigned *out = results + 10 * i;
    out[0] = word(sum), out[1] = word(difference), out[2] = word(product), out[3] = word(quotient);
    out[4] = word(++up), out[5] = word(up++), out[6] = word(--down), out[7] = word(down--);
    out[8] = word(a + b - (a - b) * (a / b));
    out[9] = (unsigned)((a == b) | (a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4 | (a >= b) << 5);
}
ENTRY run_half2_operators(const Shape *shape, const __half2 *x, const __half2 *y, unsigned *results, int n) {
    return launch(shape, operators<__half2>, x, y, results, n);
}
ENTRY run_bfloat162_operators(const Shape *shape, const __nv_bfloat162 *x, const __nv_bfloat162 *y, unsigned *results,
                              int n) {
    return launch(shape, operators<__nv_bfloat162>, x, y, results, n);
}

// --- conversions: 12 words of pairs, 4 floats, 2 numbers; and a complex multiply-add
#define PARTS(Pair, Number, number, pair)                                                                            \
    __global__ void pair##_parts(const float2 *from, unsigned *words, float *floats, bits *numbers) {                \
        const int i = (int)threadIdx.x;                                                                              \
        const float2 f = from[i];                                                                                    \
        const Pair a = __float22##pair##_rn(f), b = __floats2##pair##_rn(-f.x, f.x);                                 \
        unsigned *out = words + 12 * i;                                                                              \
        out[0] = word(a), out[1] = word(b), out[2] = word(__float2##pair##_rn(f.y));                                 \
        out[3] = word(__##number##2##pair(a.y)), out[4] = word(__halves2##pair(a.y, a.x));                           \
        out[5] = word(make_##pair(b.y, a.x)), out[6] = word(__low2##pair(a)), out[7] = word(__high2##pair(a));       \
        out[8] = word(__lows2##pair(a, b)), out[9] = word(__highs2##pair(a, b));                                     \
        out[10] = word(__lowhigh2highlow(a)), out[11] = word(__hcmadd(a, b, a));                                     \
        const float2 back = __##pair##2float2(a);                                                                    \
        floats[4 * i] = back.x, floats[4 * i + 1] = back.y;                                                          \
        floats[4 * i + 2] = __low2float(a), floats[4 * i + 3] = __high2float(a);                                     \
        Number low = __low2##number(a), high = __high2##number(a);                                                   \
        numbers[4 * i] = __##number##_as_ushort(low++), numbers[4 * i + 1] = __##number##_as_ushort(high--);         \
        numbers[4 * i + 2] = __##number##_as_ushort(++low), numbers[4 * i + 3] = __##number##_as_ushort(--high);     \
    }                                                                                                                \
    ENTRY run_##pair##_parts(const Shape *shape, const float2 *from, unsigned *words, float *floats,                 \
                             bits *numbers) {                                                                        \
        return launch(shape, pair##_parts, from, words, floats, numbers);                                            \
    }
PARTS(__half2, __half, half, half2)
PARTS(__nv_bfloat162, __nv_bfloat16, bfloat16, bfloat162)

// --- between threads
template <typename Pair> __global__ void exchange(const Pair *x, Pair *out, Pair *sum) {
    const int lane = (int)threadIdx.x % 32;
    const Pair value = x[threadIdx.x];
    if (threadIdx.x < 32) {
        out[4 * lane] = __shfl_sync(0xffffffff, value, 5);
        out[4 * lane + 1] = __shfl_up_sync(0xffffffff, value, 3);
        out[4 * lane + 2] = __shfl_down_sync(0xffffffff, value, 3, 16);
        out[4 * lane + 3] = __shfl_xor_sync(0xffffffff, value, 9);
    }
    atomicAdd(sum, value);
}
ENTRY run_half2_exchange(const Shape *shape, const __half2 *x, __half2 *out, __half2 *sum) {
    return launch(shape, exchange<__half2>, x, out, sum);
}
ENTRY run_bfloat162_exchange(const Shape *shape, const __nv_bfloat162 *x, __nv_bfloat162 *out, __nv_bfloat162 *sum) {
    return launch(shape, exchange<__nv_bfloat162>, x, out, sum);
}

// --- atomic sums of vectors; 16-bit compare and swap: a lock-free maximum
__global__ void vector_sums(float2 *two, float4 *four, unsigned short *most) {
    const float t = (float)threadIdx.x;
    const float2 before = atomicAdd(two, make_float2(1, t));
    if (before.x < 0) two->y = -1;
    atomicAdd(four, make_float4(1, t, -t, 2));
    const unsigned short mine = (unsigned short)(threadIdx.x * 37 % 251);
    unsigned short seen = *(volatile unsigned short *)most, expected;
    do {
        expected = seen;
        if (expected >= mine) break;
        seen = atomicCAS(most, expected, mine);
    } while (seen != expected);
}
ENTRY run_vector_sums(const Shape *shape, float2 *two, float4 *four, unsigned short *most) {
    return launch(shape, vector_sums, two, four, most);
}

// --- loads and stores with a hint for the caches
template <typename T> __global__ void hints(const T *x, T *out) {
    T *mine = out + 6 * threadIdx.x;
    const T *value = x + threadIdx.x;
    __stwb(mine, __ldg(value)), __stcg(mine + 1, __ldcg(value)), __stcs(mine + 2, __ldcs(value));
    __stwt(mine + 3, __ldca(value)), mine[4] = __ldlu(value), mine[5] = __ldcv(value);
}
ENTRY run_hints_half2(const Shape *shape, const __half2 *x, __half2 *out) {
    return launch(shape, hints<__half2>, x, out);
}
ENTRY run_hints_float4(const Shape *shape, const float4 *x, float4 *out) {
    return launch(shape, hints<float4>, x, out);
}

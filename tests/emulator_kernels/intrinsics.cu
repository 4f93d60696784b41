// CUDA's intrinsic functions, a case each; test_intrinsics.py numbers them the same way.
#include "kernels.h"

// --- float -> float
// clang-format off
#define UNARY(X)                                                                                                     \
    X(__expf)                                                                                                        \
    X(__exp10f) X(__logf) X(__log2f) X(__log10f) X(__sinf) X(__cosf) X(__tanf) X(__saturatef) X(__frcp_rn)           \
        X(__frcp_rz) X(__frcp_ru) X(__frcp_rd) X(__fsqrt_rn) X(__fsqrt_rz) X(__fsqrt_ru) X(__fsqrt_rd)               \
            X(__frsqrt_rn) X(rsqrtf) X(sinpif) X(cospif) X(rcbrtf) X(normcdff) X(expf) X(exp2f) X(exp10f) X(logf)    \
                X(log2f) X(log10f) X(sinf) X(cosf) X(tanf) X(sqrtf) X(cbrtf)
// clang-format on
#define NUMBER(name) N_##name,
enum { UNARY(NUMBER) };
#define CASE(name)                                                                                                   \
    case N_##name: out[i] = name(x[i]); break;
__global__ void unary(int which, const float *x, float *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    switch (which) { UNARY(CASE) }
}
#undef CASE
ENTRY run_unary(const Shape *shape, int which, const float *x, float *out, int n) {
    return launch(shape, unary, which, x, out, n);
}

// --- (float, float) -> float
// clang-format off
#define BINARY(X)                                                                                                    \
    X(__fdividef)                                                                                                    \
    X(__powf) X(__fadd_rn) X(__fadd_rz) X(__fadd_ru) X(__fadd_rd) X(__fsub_rn) X(__fsub_rz) X(__fsub_ru)             \
        X(__fsub_rd) X(__fmul_rn) X(__fmul_rz) X(__fmul_ru) X(__fmul_rd) X(__fdiv_rn) X(__fdiv_rz) X(__fdiv_ru)      \
            X(__fdiv_rd) X(fdividef) X(rhypotf) X(powf)
// clang-format on
enum { BINARY(NUMBER) };
#define CASE(name)                                                                                                   \
    case N_##name: out[i] = name(x[i], y[i]); break;
__global__ void binary(int which, const float *x, const float *y, float *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    switch (which) { BINARY(CASE) }
}
#undef CASE
ENTRY run_binary(const Shape *shape, int which, const float *x, const float *y, float *out, int n) {
    return launch(shape, binary, which, x, y, out, n);
}

// --- fused, and pairs
__global__ void fused(const float *x, const float *y, const float *z, float *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    out[4 * i] = __fmaf_rn(x[i], y[i], z[i]);
    out[4 * i + 1] = __fmaf_rz(x[i], y[i], z[i]);
    out[4 * i + 2] = __fmaf_ru(x[i], y[i], z[i]);
    out[4 * i + 3] = __fmaf_rd(x[i], y[i], z[i]);
}
ENTRY run_fused(const Shape *shape, const float *x, const float *y, const float *z, float *out, int n) {
    return launch(shape, fused, x, y, z, out, n);
}
__global__ void pairs(const float *x, float *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    __sincosf(x[i], &out[4 * i], &out[4 * i + 1]);
    sincospif(x[i], &out[4 * i + 2], &out[4 * i + 3]);
}
ENTRY run_pairs(const Shape *shape, const float *x, float *out, int n) {
    return launch(shape, pairs, x, out, n);
}

__global__ void doubles_of_pi(const double *x, double *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    out[3 * i] = sinpi(x[i]);
    out[3 * i + 1] = cospi(x[i]);
    out[3 * i + 2] = rsqrt(x[i]);
}
ENTRY run_doubles_of_pi(const Shape *shape, const double *x, double *out, int n) {
    return launch(shape, doubles_of_pi, x, out, n);
}

// --- numbers to integers and back: 16 results each, all as 64 bits
__global__ void floats_to_integers(const float *x, long long *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const float v = x[i];
    long long *mine = out + 16 * i;
    mine[0] = __float2int_rn(v), mine[1] = __float2int_rz(v), mine[2] = __float2int_ru(v);
    mine[3] = __float2int_rd(v), mine[4] = __float2uint_rn(v), mine[5] = __float2uint_rz(v);
    mine[6] = __float2uint_ru(v), mine[7] = __float2uint_rd(v), mine[8] = __float2ll_rn(v);
    mine[9] = __float2ll_rz(v), mine[10] = __float2ll_ru(v), mine[11] = __float2ll_rd(v);
    mine[12] = (long long)__float2ull_rn(v), mine[13] = (long long)__float2ull_rz(v);
    mine[14] = (long long)__float2ull_ru(v), mine[15] = (long long)__float2ull_rd(v);
}
ENTRY run_floats_to_integers(const Shape *shape, const float *x, long long *out, int n) {
    return launch(shape, floats_to_integers, x, out, n);
}
__global__ void doubles_to_integers(const double *x, long long *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const double v = x[i];
    long long *mine = out + 16 * i;
    mine[0] = __double2int_rn(v), mine[1] = __double2int_rz(v), mine[2] = __double2int_ru(v);
    mine[3] = __double2int_rd(v), mine[4] = __double2uint_rn(v), mine[5] = __double2uint_rz(v);
    mine[6] = __double2uint_ru(v), mine[7] = __double2uint_rd(v), mine[8] = __double2ll_rn(v);
    mine[9] = __double2ll_rz(v), mine[10] = __double2ll_ru(v), mine[11] = __double2ll_rd(v);
    mine[12] = (long long)__double2ull_rn(v), mine[13] = (long long)__double2ull_rz(v);
    mine[14] = (long long)__double2ull_ru(v), mine[15] = (long long)__double2ull_rd(v);
}
ENTRY run_doubles_to_integers(const Shape *shape, const double *x, long long *out, int n) {
    return launch(shape, doubles_to_integers, x, out, n);
}
__global__ void integers_to_floats(const long long *x, float *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const long long v = x[i];
    float *mine = out + 16 * i;
    mine[0] = __int2float_rn((int)v), mine[1] = __int2float_rz((int)v), mine[2] = __int2float_ru((int)v);
    mine[3] = __int2float_rd((int)v), mine[4] = __uint2float_rn((unsigned)v), mine[5] = __uint2float_rz((unsigned)v);
    mine[6] = __uint2float_ru((unsigned)v), mine[7] = __uint2float_rd((unsigned)v), mine[8] = __ll2float_rn(v);
    mine[9] = __ll2float_rz(v), mine[10] = __ll2float_ru(v), mine[11] = __ll2float_rd(v);
    const unsigned long long w = (unsigned long long)v;
    mine[12] = __ull2float_rn(w), mine[13] = __ull2float_rz(w), mine[14] = __ull2float_ru(w);
    mine[15] = __ull2float_rd(w);
}
ENTRY run_integers_to_floats(const Shape *shape, const long long *x, float *out, int n) {
    return launch(shape, integers_to_floats, x, out, n);
}

// --- integers: 14 results each, as 64 bits
__global__ void integers(const unsigned long long *x, const unsigned long long *y, long long *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const unsigned a = (unsigned)x[i], b = (unsigned)y[i];
    long long *mine = out + 14 * i;
    mine[0] = __mul24((int)a, (int)b), mine[1] = __umul24(a, b);
    mine[2] = __mulhi((int)a, (int)b), mine[3] = __umulhi(a, b);
    mine[4] = __mul64hi((long long)x[i], (long long)y[i]), mine[5] = (long long)__umul64hi(x[i], y[i]);
    mine[6] = __sad((int)a, (int)b, 5), mine[7] = __usad(a, b, 5);
    mine[8] = __hadd((int)a, (int)b), mine[9] = __rhadd((int)a, (int)b);
    mine[10] = __uhadd(a, b), mine[11] = __urhadd(a, b);
    mine[12] = __byte_perm(a, b, (unsigned)(x[i] >> 32) & 0x7777), mine[13] = __byte_perm(a, b, 0x3210);
}
ENTRY run_integers(const Shape *shape, const unsigned long long *x, const unsigned long long *y, long long *out,
                   int n) {
    return launch(shape, integers, x, y, out, n);
}

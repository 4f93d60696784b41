// Intrinsic functions of doubles and of integers in words, and special functions; test_dialect_intrinsics.py numbers
// the columns in the same way.
#include "kernels.h"

#define AT(i, n)                                                                                                     \
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                                      \
    if (i >= n) return

// --- doubles, rounded in three directions; floats of them in four
__global__ void directed(const double *x, const double *y, const double *z, double *results, int n) {
    AT(i, n);
    const double a = x[i], b = y[i], c = z[i];
    double *out = results + 25 * i;
#define THREE(function, ...)                                                                                         \
    *out++ = function##_rz(__VA_ARGS__), *out++ = function##_ru(__VA_ARGS__), *out++ = function##_rd(__VA_ARGS__);
    THREE(__dadd, a, b)
    THREE(__dsub, a, b)
    THREE(__dmul, a, b)
    THREE(__ddiv, a, b)
    THREE(__fma, a, b, c)
    THREE(__drcp, a)
    THREE(__dsqrt, a)
    THREE(__double2float, a)
#undef THREE
    *out = __double2float_rn(a);
}
ENTRY run_directed(const Shape *shape, const double *x, const double *y, const double *z, double *results, int n) {
    return launch(shape, directed, x, y, z, results, n);
}
__global__ void integers_to_doubles(const long long *x, double *results, int n) {
    AT(i, n);
    const long long a = x[i];
    const unsigned long long b = (unsigned long long)a;
    double *out = results + 10 * i;
    out[0] = __ll2double_rz(a), out[1] = __ll2double_ru(a), out[2] = __ll2double_rd(a), out[3] = __ll2double_rn(a);
    out[4] = __ull2double_rz(b), out[5] = __ull2double_ru(b), out[6] = __ull2double_rd(b);
    out[7] = __ull2double_rn(b), out[8] = __int2double_rn((int)a), out[9] = __uint2double_rn((unsigned)a);
}
ENTRY run_integers_to_doubles(const Shape *shape, const long long *x, double *results, int n) {
    return launch(shape, integers_to_doubles, x, results, n);
}
__global__ void words_of_doubles(const double *x, int *words, double *back, int n) {
    AT(i, n);
    words[2 * i] = __double2hiint(x[i]), words[2 * i + 1] = __double2loint(x[i]);
    back[i] = __hiloint2double(words[2 * i], words[2 * i + 1]);
}
ENTRY run_words_of_doubles(const Shape *shape, const double *x, int *words, double *back, int n) {
    return launch(shape, words_of_doubles, x, words, back, n);
}

// --- two or four integers in a word
// clang-format off
#define SIMD_1(X) X(__vneg) X(__vnegss) X(__vabs) X(__vabsss)
#define SIMD_2(X)                                                                                                    \
    X(__vadd) X(__vaddss) X(__vaddus) X(__vsub) X(__vsubss) X(__vsubus) X(__vabsdiffs) X(__vabsdiffu) X(__vsads)     \
    X(__vsadu) X(__vavgs) X(__vavgu) X(__vhaddu) X(__vmaxs) X(__vmaxu) X(__vmins) X(__vminu) X(__vcmpeq)             \
    X(__vcmpne) X(__vcmplts) X(__vcmpltu) X(__vcmples) X(__vcmpleu) X(__vcmpgts) X(__vcmpgtu) X(__vcmpges)           \
    X(__vcmpgeu) X(__vseteq) X(__vsetne) X(__vsetlts) X(__vsetltu) X(__vsetles) X(__vsetleu) X(__vsetgts)            \
    X(__vsetgtu) X(__vsetges) X(__vsetgeu)
#define EXTREMES_2(X)                                                                                                \
    X(__vimax_s16x2_relu) X(__vimin_s16x2_relu) X(__vimax_s32_relu) X(__vimin_s32_relu)
#define EXTREMES_3(X)                                                                                                \
    X(__vimax3_s16x2) X(__vimax3_u16x2) X(__vimax3_s16x2_relu) X(__vimax3_s32) X(__vimax3_u32) X(__vimax3_s32_relu)  \
    X(__vimin3_s16x2) X(__vimin3_u16x2) X(__vimin3_s16x2_relu) X(__vimin3_s32) X(__vimin3_u32) X(__vimin3_s32_relu)  \
    X(__viaddmax_s16x2) X(__viaddmax_u16x2) X(__viaddmax_s16x2_relu) X(__viaddmax_s32) X(__viaddmax_u32)             \
    X(__viaddmax_s32_relu) X(__viaddmin_s16x2) X(__viaddmin_u16x2) X(__viaddmin_s16x2_relu) X(__viaddmin_s32)        \
    X(__viaddmin_u32) X(__viaddmin_s32_relu)
// clang-format on
__global__ void simd(const unsigned *x, const unsigned *y, const unsigned *z, unsigned *results, int columns, int n) {
    AT(i, n);
    const unsigned a = x[i], b = y[i], c = z[i];
    unsigned *out = results + (long long)columns * i;
#define X(name) *out++ = name##2(a), *out++ = name##4(a);
    SIMD_1(X)
#undef X
#define X(name) *out++ = name##2(a, b), *out++ = name##4(a, b);
    SIMD_2(X)
#undef X
#define X(name) *out++ = (unsigned)name(a, b);
    EXTREMES_2(X)
#undef X
#define X(name) *out++ = (unsigned)name(a, b, c);
    EXTREMES_3(X)
#undef X
}
ENTRY run_simd(const Shape *shape, const unsigned *x, const unsigned *y, const unsigned *z, unsigned *results,
               int columns, int n) {
    return launch(shape, simd, x, y, z, results, columns, n);
}

// Which of two is the result: a word and a bit, or two bits for the high and the low number.
__global__ void choices(const unsigned *x, const unsigned *y, unsigned *results, int n) {
    AT(i, n);
    const unsigned a = x[i], b = y[i];
    unsigned *out = results + 16 * i;
    bool high, low;
#define ONE(name, Type) *out++ = (unsigned)name((Type)a, (Type)b, &low), *out++ = low;
#define TWO(name)       *out++ = name(a, b, &high, &low), *out++ = (unsigned)(high << 1 | low);
    ONE(__vibmax_s32, int)
    ONE(__vibmax_u32, unsigned)
    ONE(__vibmin_s32, int)
    ONE(__vibmin_u32, unsigned)
    TWO(__vibmax_s16x2)
    TWO(__vibmax_u16x2)
    TWO(__vibmin_s16x2)
    TWO(__vibmin_u16x2)
#undef ONE
#undef TWO
}
ENTRY run_choices(const Shape *shape, const unsigned *x, const unsigned *y, unsigned *results, int n) {
    return launch(shape, choices, x, y, results, n);
}

template <typename To> __device__ To as(unsigned word) {
    To to;
    memcpy(&to, &word, sizeof to);
    return to;
}
__global__ void dots(const unsigned *x, const unsigned *y, const unsigned *z, unsigned *results, int n) {
    AT(i, n);
    const unsigned a = x[i], b = y[i], c = z[i];
    const int p = (int)a, q = (int)b, r = (int)c;
    unsigned *out = results + 12 * i;
    out[0] = (unsigned)__dp4a(p, q, r), out[1] = __dp4a(a, b, c);
    out[2] = (unsigned)__dp4a(as<char4>(a), as<char4>(b), r), out[3] = __dp4a(as<uchar4>(a), as<uchar4>(b), c);
    out[4] = (unsigned)__dp2a_lo(p, q, r), out[5] = __dp2a_lo(a, b, c);
    out[6] = (unsigned)__dp2a_lo(as<short2>(a), as<char4>(b), r);
    out[7] = __dp2a_lo(as<ushort2>(a), as<uchar4>(b), c);
    out[8] = (unsigned)__dp2a_hi(p, q, r), out[9] = __dp2a_hi(a, b, c);
    out[10] = (unsigned)__dp2a_hi(as<short2>(a), as<char4>(b), r);
    out[11] = __dp2a_hi(as<ushort2>(a), as<uchar4>(b), c);
}
ENTRY run_dots(const Shape *shape, const unsigned *x, const unsigned *y, const unsigned *z, unsigned *results,
               int n) {
    return launch(shape, dots, x, y, z, results, n);
}
__global__ void bits(const unsigned *x, const unsigned *y, const int *by, unsigned *results, int n) {
    AT(i, n);
    unsigned *out = results + 6 * i;
    out[0] = __funnelshift_lc(x[i], y[i], (unsigned)by[i]), out[1] = __funnelshift_rc(x[i], y[i], (unsigned)by[i]);
    out[2] = __fns(x[i], y[i] % 32, by[i]);
    out[3] = umin(x[i], y[i]) ^ umax(x[i], y[i]);
    out[4] = (unsigned)(llmin((long long)x[i], -1) + llmax((long long)x[i], -5));
    out[5] = (unsigned)(ullmin(x[i], ~0ull) + ullmax(x[i], y[i]));
}
ENTRY run_bits(const Shape *shape, const unsigned *x, const unsigned *y, const int *by, unsigned *results, int n) {
    return launch(shape, bits, x, y, by, results, n);
}

// --- special functions
__global__ void special(const double *x, double *wide, float *narrow, int n) {
    AT(i, n);
    const double a = x[i];
    const float b = (float)a;
    double *out = wide + 6 * i;
    float *small = narrow + 6 * i;
    out[0] = erfinv(a), out[1] = erfcinv(a), out[2] = normcdfinv(a), out[3] = erfcx(a), out[4] = cyl_bessel_i0(a);
    out[5] = cyl_bessel_i1(a);
    small[0] = erfinvf(b), small[1] = erfcinvf(b), small[2] = normcdfinvf(b), small[3] = erfcxf(b);
    small[4] = cyl_bessel_i0f(b), small[5] = cyl_bessel_i1f(b);
}
ENTRY run_special(const Shape *shape, const double *x, double *wide, float *narrow, int n) {
    return launch(shape, special, x, wide, narrow, n);
}
__global__ void norms(const double *x, double *wide, float *narrow, int n) {
    AT(i, n);
    const double *v = x + 5 * i;
    const float f[5] = {(float)v[0], (float)v[1], (float)v[2], (float)v[3], (float)v[4]};
    double *out = wide + 7 * i;
    float *small = narrow + 6 * i;
    out[0] = norm(5, v), out[1] = rnorm(5, v), out[2] = norm3d(v[0], v[1], v[2]), out[3] = rnorm3d(v[0], v[1], v[2]);
    out[4] = norm4d(v[0], v[1], v[2], v[3]), out[5] = rnorm4d(v[0], v[1], v[2], v[3]), out[6] = rhypot(v[0], v[1]);
    small[0] = normf(5, f), small[1] = rnormf(5, f), small[2] = norm3df(f[0], f[1], f[2]);
    small[3] = rnorm3df(f[0], f[1], f[2]), small[4] = norm4df(f[0], f[1], f[2], f[3]);
    small[5] = rnorm4df(f[0], f[1], f[2], f[3]);
}
ENTRY run_norms(const Shape *shape, const double *x, double *wide, float *narrow, int n) {
    return launch(shape, norms, x, wide, narrow, n);
}

// --- kinds of memory: of dynamic and static shared memory, a local variable, and a device's variable, whether each
// is global, shared or local; addresses of shared memory, whose distances and contents are kept
__device__ int everywhere;
__device__ unsigned *kinds(const void *address, unsigned *out) {
    out[0] = __isGlobal(address), out[1] = __isShared(address), out[2] = __isLocal(address);
    return out + 3;
}
__global__ void spaces(unsigned *results) {
    DYNAMIC_SHARED(double, dynamic);
    __shared__ int fixed[64];
    volatile int own = (int)threadIdx.x;
    unsigned *out = results + 15 * threadIdx.x;
    out = kinds(dynamic + threadIdx.x, out);
    out = kinds(fixed + threadIdx.x, out);
    out = kinds(const_cast<const int *>(&own), out);
    out = kinds(threadIdx.x % 2 ? (const void *)&everywhere : (const void *)results, out);
    const unsigned first = (unsigned)__cvta_generic_to_shared(dynamic);
    out[0] = (unsigned)__cvta_generic_to_shared(dynamic + threadIdx.x) - first;
    fixed[threadIdx.x] = own;
    __barrier_sync_count(2, 64);
    const int *other = static_cast<const int *>(__cvta_shared_to_generic(__cvta_generic_to_shared(fixed + 63)));
    out[1] = __cvta_shared_to_generic(first) == dynamic && (const void *)__cvta_generic_to_global(results) == results;
    out[2] = (unsigned)other[-own];
    __barrier_sync(0);
}
ENTRY run_spaces(const Shape *shape, unsigned *results) {
    return launch(shape, spaces, results);
}

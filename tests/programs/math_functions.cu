// Shows: functions of math.h, CUDA's own ones and fast intrinsics, rounded to what all devices agree on.
#include <cstdio>
#include <cmath>

#define LIST(_)                                                                                         \
    _(sin(x)) _(cos(x)) _(tan(x)) _(asin(x / 4)) _(acos(x / 4)) _(atan(x)) _(atan2(x, 2.0)) _(sinh(x))  \
    _(cosh(x)) _(tanh(x)) _(exp(x)) _(exp2(x)) _(exp10(x)) _(expm1(x)) _(log(x)) _(log2(x)) _(log10(x)) \
    _(log1p(x)) _(sqrt(x)) _(rsqrt(x)) _(cbrt(x)) _(pow(x, 1.7)) _(hypot(x, 3.0)) _(fmod(x, 0.3))        \
    _(floor(-x)) _(ceil(x)) _(round(x)) _(trunc(-x)) _(rint(x)) _(fabs(-x)) _(fma(x, x, 1.0)) _(fmin(x, 1.0)) \
    _(erf(x)) _(erfc(x)) _(tgamma(x)) _(lgamma(x)) _(sinpi(x)) _(cospi(x)) _(norm3d(x, 2.0, 3.0))       \
    _(rhypot(x, 3.0)) _(copysign(2.0, -x)) _(normcdf(x)) _(erfinv(x / 4)) _(j0(x)) _(ldexp(x, 3))       \
    _(sinf(1.5f)) _(__sinf(1.5f)) _(__expf(0.5f)) _(__logf(3.0f)) _(__fdividef(1.0f, 3.0f)) _(rsqrtf(2.0f)) \
    _(__powf(2.0f, 0.5f)) _(__fsqrt_rn(2.0f)) _(__fmaf_rn(2.0f, 3.0f, 1.0f)) _(__saturatef(1.5f)) _(__dadd_rn(x, 1.0))

#define COUNT(e) +1
const int count = 0 LIST(COUNT);

__global__ void evaluate(double x, double *out)
{
    int n = 0;
#define STORE(e) out[n++] = double(e);
    LIST(STORE)
    double s, c;
    sincos(x, &s, &c);
    int exponent;
    double fraction = frexp(x * 100, &exponent), whole, part = modf(x, &whole);
    out[n++] = s + c;
    out[n++] = fraction + exponent + whole + part;
    out[n] = isnan(0.0 / (x - x)) + 2 * isinf(1.0 / (x - x)) + 4 * isfinite(x) + 8 * signbit(-x);
}

int main()
{
    double *out, h[count + 3];
    cudaMalloc(&out, sizeof(h));
    evaluate<<<1, 1>>>(1.4142, out);
    cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
#define NAME(e) #e,
    const char *names[] = {LIST(NAME) "sincos", "frexp, modf", "classes"};
    for (int i = 0; i < count + 3; i++) printf("%s = %.4f\n", names[i], h[i]);
    cudaFree(out);
    return 0;
}

// Shows: constants of math_constants.h and cfloat in kernels, infinities, and M_PI.
#include <cstdio>
#include <cfloat>
#include <climits>
#include <cmath>
#include <math_constants.h>

__global__ void constants(double *out) {
    int n = 0;
    out[n++] = CUDART_PI_F;
    out[n++] = CUDART_PI;
    out[n++] = CUDART_SQRT_TWO_F;
    out[n++] = M_PI / M_E;
    out[n++] = CUDART_INF_F;
    out[n++] = -INFINITY;
    out[n++] = isnan(CUDART_NAN_F) + isnan(NAN) + isinf(CUDART_INF);
    out[n++] = FLT_MAX;
    out[n++] = DBL_EPSILON;
    out[n++] = INT_MAX;
    out[n++] = (double)UINT_MAX + LLONG_MIN;
    out[n++] = nextafterf(1.0f, 2.0f) - 1.0f == FLT_EPSILON;
}

int main() {
    double *out, h[12];
    cudaMalloc(&out, sizeof h);
    constants<<<1, 1>>>(out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    for (double v : h) printf("%.6g\n", v);
    cudaFree(out);
}

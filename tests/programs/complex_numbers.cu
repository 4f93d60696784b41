// Shows: complex numbers of cuComplex.h: a discrete Fourier transform and its inverse.
#include <stdio.h>
#include <math.h>
#include <cuComplex.h>

__global__ void dft(const cuDoubleComplex *in, cuDoubleComplex *out, int n, double sign) {
    int k = threadIdx.x;
    if (k >= n) return;
    cuDoubleComplex sum = make_cuDoubleComplex(0, 0);
    for (int j = 0; j < n; j++) {
        double s, c;
        sincospi(sign * 2 * ((long long)j * k % n) / n, &s, &c);
        sum = cuCadd(sum, cuCmul(in[j], make_cuDoubleComplex(c, s)));
    }
    out[k] = sum;
}
__global__ void single(cuFloatComplex *z) {
    cuComplex a = make_cuComplex(3, 4), b = make_cuFloatComplex(1, -2);
    z[0] = cuCmulf(a, b);
    z[1] = cuCsubf(a, cuConjf(b));
    z[2] = cuCdivf(a, b);
    z[3] = make_cuFloatComplex(cuCabsf(a), cuCimagf(b));
}

int main(void) {
    const int n = 24;
    cuDoubleComplex h[n], r[n], *d;
    cuFloatComplex z[4], *dz;
    for (int i = 0; i < n; i++) h[i] = make_cuDoubleComplex(cos(2 * M_PI * 3 * i / n), i % 2);
    cudaMalloc(&d, 3 * sizeof h);
    cudaMalloc(&dz, sizeof z);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    dft<<<1, 32>>>(d, d + n, n, -1);
    dft<<<1, 32>>>(d + n, d + 2 * n, n, 1);
    cudaMemcpy(r, d + n, sizeof r, cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++)
        if (cuCabs(r[k]) > 1e-6) printf("%d: %.3f %.3f\n", k, fabs(cuCreal(r[k])), fabs(cuCimag(r[k])));
    cudaMemcpy(r, d + 2 * n, sizeof r, cudaMemcpyDeviceToHost);
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, hypot(r[i].x / n - h[i].x, r[i].y / n - h[i].y));
    printf("inverse: %s\n", worst < 1e-12 ? "equal" : "different");
    single<<<1, 1>>>(dz);
    cudaMemcpy(z, dz, sizeof z, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++) printf("%g%+gi ", z[i].x, z[i].y);
    printf("\n");
    cudaFree(d); cudaFree(dz);
    return 0;
}

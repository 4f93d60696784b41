// Shows: __constant__ arrays, structs and scalars, written from the host, also at an offset.
#include <stdio.h>
#include <cuda_runtime.h>

#define DEGREE 4
__constant__ float coefficients[DEGREE + 1];
__constant__ int table[] = {1, 10, 100, 1000};
static __constant__ struct { int a; double b; } settings;
__device__ __constant__ int scalar = 7;
__constant__ const char letters[] = "abc";

__global__ void polynomial(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = coefficients[DEGREE];
    for (int k = DEGREE - 1; k >= 0; k--) r = r * x[i] + coefficients[k];
    y[i] = r;
}
__global__ void others(int *out)
{
    out[threadIdx.x] = table[threadIdx.x] + scalar;
    if (threadIdx.x == 0) out[4] = settings.a + (int)settings.b + letters[2];
}

int main(void)
{
    float h[DEGREE + 1] = {1, 0, 2, 0, 1}, x[8], y[8], *dx, *dy;
    int *out, o[5], two[2] = {-1, -2}, nine = 9;
    struct { int a; double b; } s = {3, 4.5};
    for (int i = 0; i < 8; i++) x[i] = i - 4;
    cudaMalloc((void **)&dx, sizeof(x));
    cudaMalloc((void **)&dy, sizeof(y));
    cudaMalloc((void **)&out, sizeof(o));
    cudaMemcpyToSymbol(coefficients, h, sizeof(h));
    cudaMemcpyToSymbol(table, two, sizeof(two), 2 * sizeof(int));
    cudaMemcpyToSymbol(settings, &s, sizeof(s), 0, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbolAsync(scalar, &nine, sizeof(int), 0, cudaMemcpyHostToDevice, 0);
    cudaMemcpy(dx, x, sizeof(x), cudaMemcpyHostToDevice);
    polynomial<<<1, 8>>>(dx, dy, 8);
    others<<<1, 4>>>(out);
    cudaMemcpy(y, dy, sizeof(y), cudaMemcpyDeviceToHost);
    cudaMemcpy(o, out, sizeof(o), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++) printf("%g ", y[i]);
    printf("\n%d %d %d %d %d\n", o[0], o[1], o[2], o[3], o[4]);
    cudaMemcpyFromSymbol(h, coefficients, 2 * sizeof(float), 2 * sizeof(float));
    printf("%g %g\n", h[0], h[1]);
    cudaFree(dx); cudaFree(dy); cudaFree(out);
    return 0;
}

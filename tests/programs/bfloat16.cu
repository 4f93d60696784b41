// Shows: bfloat16: conversions, operators, pairs and functions of cuda_bf16.h.
#include <cstdio>
#include <cuda_bf16.h>

__global__ void axpy(int n, __nv_bfloat16 a, const __nv_bfloat16 *x, __nv_bfloat16 *y) {
    int i = threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void others(float *out) {
    __nv_bfloat162 p = __floats2bfloat162_rn(1.0f, 2.0f), q = __hfma2(p, p, p);
    out[0] = __low2float(q);
    out[1] = __high2float(q);
    out[2] = __bfloat162float(__float2bfloat16(3.14159265f));
    out[3] = __bfloat162float(__float2bfloat16(1e38f)) / 1e38f;
    out[4] = __hlt(__float2bfloat16(1), __float2bfloat16(2)) ? 5 : 6;
    out[5] = __bfloat162float(__hmax(__float2bfloat16(-1), __float2bfloat16(-2)));
    out[6] = __bfloat162float(__ushort_as_bfloat16(0x4049));
    out[7] = float(__float2bfloat16(1.00390625f)); // a tie goes to the even neighbour
}

int main() {
    const int n = 16;
    __nv_bfloat16 x[n], y[n], *d;
    float *out, f[8];
    for (int i = 0; i < n; i++) x[i] = __float2bfloat16(float(i)), y[i] = __float2bfloat16(1.0f);
    cudaMalloc(&d, 2 * sizeof x);
    cudaMalloc(&out, sizeof f);
    cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(d + n, y, sizeof y, cudaMemcpyHostToDevice);
    axpy<<<1, n>>>(n, __float2bfloat16(2.0f), d, d + n);
    cudaMemcpy(y, d + n, sizeof y, cudaMemcpyDeviceToHost);
    for (auto v : y) printf("%g ", __bfloat162float(v));
    others<<<1, 1>>>(out);
    cudaMemcpy(f, out, sizeof f, cudaMemcpyDeviceToHost);
    printf("\n");
    for (float v : f) printf("%.6g ", v);
    printf("\n");
    cudaFree(d), cudaFree(out);
}

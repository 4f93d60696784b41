// Shows: half precision: conversions, operators, pairs and functions of cuda_fp16.h.
#include <cstdio>
#include <cuda_fp16.h>

__global__ void scalar(const __half *x, __half *y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = __hfma(x[i], __float2half(2.0f), __float2half(0.5f));
}
__global__ void pairs(const half2 *x, half2 *y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = __hadd2(__hmul2(x[i], __float2half2_rn(3.0f)), __halves2half2(half(1), half(-1)));
}
__global__ void others(float *out) {
    half a = 1.5f, b = 2.0f;
    half2 c = __floats2half2_rn(3.0f, -4.0f);
    out[0] = __half2float(a * b + a - b / a);
    out[1] = float(hsqrt(half(16.0f)));
    out[2] = __hgt(a, b) ? 1 : __hlt(a, b) ? 2 : 3;
    out[3] = __half2float(__hmax(a, b)) + __half2float(__habs(__high2half(c)));
    out[4] = __half2int_rn(half(2.6f)) + __half2int_rz(half(2.6f));
    out[5] = __half2float(__ushort_as_half(0x3c00));
    out[6] = __half2float(__float2half_rn(0.1f));
    out[7] = __low2float(c) + (__hisnan(__float2half(NAN)) ? 10 : 0);
    out[8] = float(half(65504.0f)) + float(__hneg(a));
}

int main() {
    __half h[8], r[8], *d;
    float *out, f[9];
    for (int i = 0; i < 8; i++) h[i] = __float2half(float(i));
    cudaMalloc(&d, 16 * sizeof(__half));
    cudaMalloc(&out, sizeof f);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    scalar<<<1, 8>>>(d, d + 8, 8);
    cudaMemcpy(r, d + 8, sizeof r, cudaMemcpyDeviceToHost);
    for (__half v : r) printf("%g ", __half2float(v));
    pairs<<<1, 8>>>(reinterpret_cast<half2 *>(d), reinterpret_cast<half2 *>(d + 8), 4);
    cudaMemcpy(r, d + 8, sizeof r, cudaMemcpyDeviceToHost);
    printf("\n");
    for (int i = 0; i < 8; i++) printf("%g ", (float)r[i]);
    others<<<1, 1>>>(out);
    cudaMemcpy(f, out, sizeof f, cudaMemcpyDeviceToHost);
    printf("\n");
    for (float v : f) printf("%.8g ", v);
    printf("\n");
    cudaFree(d), cudaFree(out);
}

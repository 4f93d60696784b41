// Shows: numbers of eight bits (cuda_fp8.h): conversions of both formats, their ranges and saturation.
#include <cstdio>
#include <cuda_fp8.h>

template <typename F8> __global__ void round_trip(const float *in, float *out, unsigned char *bits, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    F8 v(in[i]);
    bits[i] = v.__x;
    out[i] = float(v);
}

int main() {
    const int n = 10;
    float h[n] = {0, 1, -1.5f, 0.1f, 3.3f, 240, 448, 1000, 1e-3f, -60000}, r[n], *in, *out;
    unsigned char b[n], *bits;
    cudaMalloc(&in, sizeof h), cudaMalloc(&out, sizeof r), cudaMalloc(&bits, sizeof b);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    for (int k = 0; k < 2; k++) {
        if (k) round_trip<__nv_fp8_e5m2><<<1, 32>>>(in, out, bits, n);
        else round_trip<__nv_fp8_e4m3><<<1, 32>>>(in, out, bits, n);
        cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
        cudaMemcpy(b, bits, sizeof b, cudaMemcpyDeviceToHost);
        printf(k ? "e5m2:" : "e4m3:");
        for (int i = 0; i < n; i++) printf(" %g (%02x)", r[i], b[i]);
        printf("\n");
    }
    __nv_fp8_storage_t s = __nv_cvt_float_to_fp8(2.5f, __NV_SATFINITE, __NV_E4M3);
    printf("on the host: %02x\n", s);
    cudaFree(in), cudaFree(out), cudaFree(bits);
}

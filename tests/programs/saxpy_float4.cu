// Shows: SAXPY with float4 loads, the vector types' makers, and a rest that is no multiple of four.
#include <cstdio>
#include <cuda_runtime.h>

__host__ __device__ inline float4 operator*(float a, const float4 &b) { return make_float4(a * b.x, a * b.y, a * b.z, a * b.w); }
__host__ __device__ inline float4 operator+(const float4 &a, const float4 &b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void saxpy4(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        const float4 v = reinterpret_cast<const float4 *>(x)[i];
        reinterpret_cast<float4 *>(y)[i] = a * v + reinterpret_cast<float4 *>(y)[i];
    } else if (int rest = n / 4 * 4 + (i - n / 4); rest < n) y[rest] += a * x[rest];
}

__global__ void types(int *out) {
    int2 a = make_int2(1, 2);
    uchar4 b = make_uchar4(3, 4, 5, 250);
    double2 c = {6.5, 7};
    short3 d{8, 9, 10};
    longlong2 e = make_longlong2(1ll << 40, 11);
    uint3 f = threadIdx;
    *out = a.x + a.y + b.w + (int)c.x + d.z + (int)(e.x >> 40) + int(f.x) + int(sizeof(float3) + sizeof(char4));
}

int main() {
    const int n = 1027;
    float *x, *y;
    int *out;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    cudaMallocManaged(&out, sizeof(int));
    for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
    saxpy4<<<3, 128>>>(n, 2.0f, x, y);
    types<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += y[i] != 2.0f * i + 1;
    printf("%g %g, %d wrong, %d\n", y[0], y[n - 1], wrong, *out);
    cudaFree(x), cudaFree(y), cudaFree(out);
}

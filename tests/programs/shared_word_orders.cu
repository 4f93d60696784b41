// Shows: the words extern, static, const, volatile, alignas and __shared__ in all orders.
#include <cstdio>

__global__ void dynamic_1(int *out) { extern __shared__ int a[]; a[threadIdx.x] = 1; out[threadIdx.x] += a[threadIdx.x]; }
__global__ void dynamic_2(int *out) { __shared__ extern int a[]; a[threadIdx.x] = 2; out[threadIdx.x] += a[threadIdx.x]; }
__global__ void dynamic_3(int *out) { extern int __shared__ a[]; a[threadIdx.x] = 4; out[threadIdx.x] += a[threadIdx.x]; }
__global__ void dynamic_4(int *out) {
    extern volatile __shared__ int v[];
    v[threadIdx.x] = 8;
    out[threadIdx.x] += v[threadIdx.x];
}
__global__ void dynamic_5(int *out) {
    extern __shared__ __align__(16) unsigned char bytes[];
    int *a = reinterpret_cast<int *>(bytes);
    a[threadIdx.x] = 16;
    out[threadIdx.x] += a[threadIdx.x];
}
__global__ void static_1(int *out) {
    static __shared__ int a[32];
    __shared__ static int b[32];
    int __shared__ c[32];
    unsigned __shared__ int d[32];
    volatile __shared__ int e[32];
    __shared__ alignas(64) int f[32];
    __align__(32) __shared__ float4 g[8];
    __shared__ int h, i[4], *j;
    __shared__ int k[4][8], (*l)[8];
    int t = threadIdx.x;
    if (t == 0) h = 0, j = i, l = k;
    __syncthreads();
    a[t] = b[t] = c[t] = d[t] = e[t] = f[t] = 32;
    if (t < 4) i[t] = 7;
    if (t < 8) g[t] = make_float4(1, 2, 3, 4);
    k[t / 8][t % 8] = t;
    atomicAdd(&h, 1);
    __syncthreads();
    out[t] += a[t] + b[t] + c[t] + d[t] + e[t] + f[t] + j[3] + int(g[7].w) + h + l[3][7];
}

int main() {
    int *out, h[32];
    cudaMalloc(&out, sizeof h);
    cudaMemset(out, 0, sizeof h);
    void (*kernels[])(int *) = {dynamic_1, dynamic_2, dynamic_3, dynamic_4, dynamic_5, static_1};
    for (auto kernel : kernels) {
        kernel<<<1, 32, 128>>>(out);
        cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
        printf("%d %d\n", h[0], h[31]);
    }
    cudaFree(out);
}

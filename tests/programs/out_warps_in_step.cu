// Shows: warps whose lanes exchange values by volatile pointers, as programs for older GPUs do.
#include <stdio.h>

template <unsigned SIZE> __device__ void sum_of_warp(volatile int *sdata, unsigned tid) {
    if (SIZE >= 64) sdata[tid] += sdata[tid + 32];
    if (SIZE >= 32) sdata[tid] += sdata[tid + 16];
    if (SIZE >= 16) sdata[tid] += sdata[tid + 8];
    sdata[tid] += sdata[tid + 4];
    sdata[tid] += sdata[tid + 2];
    sdata[tid] += sdata[tid + 1];
}

template <unsigned SIZE> __global__ void sum(const int *in, int *out) {
    extern __shared__ int sdata[];
    unsigned tid = threadIdx.x;
    sdata[tid] = in[blockIdx.x * SIZE + tid];
    __syncthreads();
    for (unsigned s = SIZE / 2; s > 32; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid < 32) sum_of_warp<SIZE>(sdata, tid);
    if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void scan(int *values) {
    __shared__ volatile int row[2][32 + 32];
    volatile int *ptr = row[threadIdx.y];
    int i = threadIdx.x + 32;
    ptr[threadIdx.x] = 0;
    ptr[i] = values[threadIdx.y * 32 + threadIdx.x];
    for (int step = 1; step < 32; step *= 2) ptr[i] = ptr[i] + ptr[i - step];
    values[threadIdx.y * 32 + threadIdx.x] = ptr[i];
}

int main() {
    int host[256], *in, *out, sums[2];
    for (int i = 0; i < 256; ++i) host[i] = i * i % 31;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof sums);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum<128><<<2, 128, 128 * sizeof(int)>>>(in, out);
    cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
    printf("%d %d\n", sums[0], sums[1]);
    scan<<<1, dim3(32, 2)>>>(in);
    cudaMemcpy(host, in, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", host[1], host[31], host[32], host[63]);
    return 0;
}

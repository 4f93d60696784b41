// Shows: a sum in the textbook's steps, from divergent branches to several elements per thread.
#include <stdio.h>

#define PROLOGUE                                                                     \
    extern __shared__ int sdata[];                                                   \
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;           \
    (void)i;
#define EPILOGUE if (tid == 0) g_odata[blockIdx.x] = sdata[0];
#define ARGS (int *g_idata, int *g_odata, unsigned int n)

__global__ void reduce0 ARGS { PROLOGUE
    sdata[tid] = i < n ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
        __syncthreads();
    } EPILOGUE }
__global__ void reduce1 ARGS { PROLOGUE
    sdata[tid] = i < n ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < blockDim.x) sdata[index] += sdata[index + s];
        __syncthreads();
    } EPILOGUE }
__global__ void reduce2 ARGS { PROLOGUE
    sdata[tid] = i < n ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    } EPILOGUE }
template <unsigned blockSize> __device__ void warpReduce(volatile int *s, unsigned tid) {
    int v = s[tid];
    v += s[tid + 32]; __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 16]; __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 8]; __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 4]; __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 2]; __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 1]; __syncwarp(); s[tid] = v;
}
template <unsigned blockSize> __global__ void reduce5 ARGS { PROLOGUE
    int sum = 0;
    for (unsigned k = blockIdx.x * blockSize * 2 + tid; k < n; k += blockSize * 2 * gridDim.x)
        sum += g_idata[k] + (k + blockSize < n ? g_idata[k + blockSize] : 0);
    sdata[tid] = sum;
    __syncthreads();
    if (blockSize >= 256) { if (tid < 128) sdata[tid] += sdata[tid + 128]; __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) sdata[tid] += sdata[tid + 64]; __syncthreads(); }
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
    EPILOGUE }

int main(void)
{
    const unsigned n = 100000, threads = 256;
    int *in, *out;
    void (*steps[]) ARGS = {reduce0, reduce1, reduce2, reduce5<256>};
    cudaMallocManaged(&in, n * sizeof(int)); cudaMallocManaged(&out, 1024 * sizeof(int));
    for (unsigned i = 0; i < n; i++) in[i] = (int)(i & 0xff) - 100;
    for (auto step : steps) {
        unsigned blocks = step == reduce5<256> ? 16 : (n + threads - 1) / threads;
        step<<<blocks, threads, threads * sizeof(int)>>>(in, out, n);
        cudaDeviceSynchronize();
        int total = 0;
        for (unsigned b = 0; b < blocks; b++) total += out[b];
        printf("%u blocks: %d\n", blocks, total);
    }
    return cudaFree(in) || cudaFree(out);
}

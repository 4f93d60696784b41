// Shows: more than 48 KB of dynamic shared memory, which a kernel must ask for first.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void reverse(const int *in, int *out, int n)
{
    extern __shared__ int tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[n - 1 - i];
}

int main()
{
    const int n = 25000, bytes = n * sizeof(int);
    int *in, *out;
    cudaMallocManaged(&in, bytes);
    cudaMallocManaged(&out, bytes);
    for (int i = 0; i < n; i++) in[i] = i;
    reverse<<<1, 512, bytes>>>(in, out, n);
    printf("without asking: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaError_t status = cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    printf("asking: %s\n", cudaGetErrorName(status));
    reverse<<<1, 512, bytes>>>(in, out, n);
    printf("after asking: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d %d\n", out[0], out[n - 1]);
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, reverse);
    printf("attribute %d, threads %d\n", a.maxDynamicSharedSizeBytes, a.maxThreadsPerBlock);
    status = cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024);
    printf("too much: %s\n", cudaGetErrorName(status));
    cudaFree(in);
    cudaFree(out);
}

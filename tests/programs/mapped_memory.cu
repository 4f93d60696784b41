// Shows: mapped (zero-copy) host memory that a kernel reads and writes by its device pointer.
#include <stdio.h>

__global__ void vectorAddGPU(float *a, float *b, float *c, int N)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < N) c[idx] = a[idx] + b[idx];
}

int main()
{
    int N = 5000, device = 0;
    size_t bytes = N * sizeof(float);
    float *a, *b, *c, *d_a, *d_b, *d_c;
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, device);
    if (!prop.canMapHostMemory) { fprintf(stderr, "cannot map host memory\n"); return 1; }
    cudaSetDeviceFlags(cudaDeviceMapHost);
    cudaHostAlloc((void **)&a, bytes, cudaHostAllocMapped);
    cudaHostAlloc((void **)&b, bytes, cudaHostAllocMapped | cudaHostAllocWriteCombined);
    cudaHostAlloc((void **)&c, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    for (int n = 0; n < N; n++) { a[n] = n; b[n] = 2 * n; c[n] = 0; }
    cudaHostGetDevicePointer((void **)&d_a, (void *)a, 0);
    cudaHostGetDevicePointer((void **)&d_b, (void *)b, 0);
    cudaHostGetDevicePointer((void **)&d_c, (void *)c, 0);
    dim3 block(256), grid((unsigned int)((N + 255) / 256));
    vectorAddGPU<<<grid, block>>>(d_a, d_b, d_c, N);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int n = 0; n < N; n++) wrong += c[n] != 3.0f * n;
    printf("%g, %d wrong\n", c[N - 1], wrong);
    cudaFreeHost(a); cudaFreeHost(b); cudaFreeHost(c);
    return wrong != 0;
}

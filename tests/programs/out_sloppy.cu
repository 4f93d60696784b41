// Shows: what programs from elsewhere rely on: new memory is zero, and types are made narrower in braces.
#include <stdio.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
__device__ double atomicAdd(double *address, double value);
#endif

__global__ void count(int *counts, double *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int steps = 2 + n % 2;
    unsigned char step[] = {1, (unsigned char)steps};
    if (i < n) {
        atomicAdd(&counts[i % 4], step[i % 2]);
        atomicAdd(sum, 0.5);
    }
}

int main() {
    int *counts, host[4];
    double *sum;
    cudaMalloc(&counts, 4 * sizeof(int));
    cudaMallocManaged(&sum, sizeof(double));
    count<<<4, 32>>>(counts, sum, 100);
    cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d, %g\n", host[0], host[1], host[2], host[3], *sum);
    return 0;
}

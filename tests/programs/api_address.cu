// Shows: kernels passed by their address alone to launches, attributes and occupancy.
#include <cstdio>

__global__ void add(const int *a, int b, int *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = a[i] + b;
}
__global__ void scale(int *x, double factor) {
    x[threadIdx.x] = (int)(x[threadIdx.x] * factor);
}

struct SharedOf {
    __host__ __device__ int operator()(int threads) const { return threads * 8; }
};

int main() {
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *a, *sum, b = 100;
    double factor = 0.5;
    cudaMalloc((void **)&a, sizeof host);
    cudaMalloc((void **)&sum, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    const void *kernels[2] = {(const void *)add, (const void *)scale};
    void *first[] = {&a, &b, &sum}, *second[] = {&sum, &factor};
    printf("launch %d\n", cudaLaunchKernel(kernels[0], dim3(2), dim3(4), first, 0, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 8;
    printf("launch %d\n", cudaLaunchKernelExC(&config, kernels[1], second));
    cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost);
    for (int value : host) printf("%d ", value);

    cudaFuncAttributes attributes;
    int blocks = 0, grid = 0, block = 0;
    printf("\nattributes %d", cudaFuncGetAttributes(&attributes, (void *)add));
    printf(", threads %d\n", attributes.maxThreadsPerBlock);
    cudaFuncSetAttribute((const void *)add, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    cudaFuncGetAttributes(&attributes, add);
    printf("dynamic shared memory %d\n", attributes.maxDynamicSharedSizeBytes);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)scale, 1024, 0);
    printf("%d blocks\n", blocks);
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, (void *)scale, 0, 0);
    printf("block %d\n", block);
    cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, scale, SharedOf(), 512);
    printf("block %d\n", block);
    cudaFunction_t function;
    printf("function %d\n", cudaGetFuncBySymbol(&function, (const void *)scale));
    return 0;
}

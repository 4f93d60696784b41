// Shows: the occupancy interface: a block size it proposes, and how many blocks fit.
#include <stdio.h>

__global__ void MyKernel(int *array, int arrayCount)
{
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx < arrayCount) array[idx] *= array[idx];
}

__global__ void with_shared(int *array)
{
    extern __shared__ int s[];
    s[threadIdx.x] = array[threadIdx.x];
    __syncthreads();
    array[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

struct BytesOf { __host__ __device__ size_t operator()(int threads) const { return threads * sizeof(int); } };

int main()
{
    const int arrayCount = 5000;
    int *array, blockSize, minGridSize, gridSize, maxActiveBlocks;
    cudaMallocManaged(&array, arrayCount * sizeof(int));
    for (int i = 0; i < arrayCount; i++) array[i] = i;
    cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, (void *)MyKernel, 0, arrayCount);
    gridSize = (arrayCount + blockSize - 1) / blockSize;
    MyKernel<<<gridSize, blockSize>>>(array, arrayCount);
    cudaDeviceSynchronize();
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&maxActiveBlocks, MyKernel, blockSize, 0);
    cudaDeviceProp props;
    cudaGetDeviceProperties(&props, 0);
    float occupancy = (maxActiveBlocks * blockSize / props.warpSize) / (float)(props.maxThreadsPerMultiProcessor / props.warpSize);
    printf("Block size %d, theoretical occupancy: %f\n", blockSize, occupancy);
    printf("%d %d\n", array[70], array[arrayCount - 1]);
    cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGridSize, &blockSize, with_shared, BytesOf(), 256);
    printf("at most 256: %d\n", blockSize);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&maxActiveBlocks, with_shared, 128, 48 * 1024);
    printf("48 KB each: %d blocks\n", maxActiveBlocks);
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, with_shared);
    printf("static shared memory %zu, at most %d threads\n", attributes.sharedSizeBytes, attributes.maxThreadsPerBlock);
    cudaFree(array);
    return 0;
}

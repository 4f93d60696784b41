// Shows: a sum in one launch: memory fences, a counter, and the last block that adds the parts.
#include <cstdio>

__device__ unsigned int count = 0;
__shared__ bool isLastBlockDone;

__device__ unsigned long long calculatePartialSum(const unsigned *array, unsigned N)
{
    __shared__ unsigned long long sums[128];
    unsigned long long sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) sum += array[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned i = 1; i < blockDim.x; i++) sum += sums[i];
    return sum;
}

__global__ void sum(const unsigned *array, unsigned N, volatile unsigned long long *result)
{
    unsigned long long partialSum = calculatePartialSum(array, N);
    if (threadIdx.x == 0) {
        result[blockIdx.x] = partialSum;
        // Thread 0 makes sure that its result is visible to all other threads
        __threadfence();
        unsigned int value = atomicInc(&count, gridDim.x);
        isLastBlockDone = (value == (gridDim.x - 1));
    }
    __syncthreads();
    if (isLastBlockDone && threadIdx.x == 0) {
        unsigned long long totalSum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) totalSum += result[i];
        result[0] = totalSum;
        count = 0;
    }
}

int main()
{
    const unsigned N = 70000;
    unsigned *array;
    unsigned long long *result;
    cudaMallocManaged(&array, N * sizeof(unsigned));
    cudaMallocManaged(&result, 64 * sizeof(unsigned long long));
    for (unsigned i = 0; i < N; i++) array[i] = i;
    for (unsigned blocks = 1; blocks <= 64; blocks *= 4) {
        sum<<<blocks, 128>>>(array, N, result);
        cudaDeviceSynchronize();
        printf("%u blocks: %llu\n", blocks, result[0]);
    }
    cudaFree(array), cudaFree(result);
}

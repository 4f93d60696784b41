// Shows: threads that wait for others of their block and of other blocks, by volatile flags and by cached loads.
#include <stdio.h>

__device__ volatile int flag_of_all;

__global__ void of_threads(int *out) {
    __shared__ volatile int ready;
    volatile int *last = &ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        while (ready == 0)
            ;
        do {
        } while (*last == 1);
        if (threadIdx.x == 0) *out = ready;
    } else if (threadIdx.x == 32) {
        ready = 1;
        __threadfence_block();
        ready = 2;
    }
}

// Each block adds its own to what the block before it has.
__global__ void of_blocks(volatile int *sums, int *flags) {
    if (threadIdx.x == 0 && blockIdx.x > 0) {
        while (__ldcg(&flags[blockIdx.x - 1]) == 0) __threadfence();
        sums[blockIdx.x] = sums[blockIdx.x - 1] + blockIdx.x;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
        if (blockIdx.x == gridDim.x - 1) flag_of_all = 1;
    }
    for (int tries = 0; flag_of_all == 0; ++tries) {
    }
}

int main() {
    int *data, host[128];
    cudaMalloc(&data, sizeof host);
    cudaMemset(data, 0, sizeof host);
    of_threads<<<1, 64>>>(data);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host[0]);
    of_blocks<<<50, 32>>>(data, data + 64);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %s\n", host[49], cudaGetErrorString(cudaGetLastError()));
    return 0;
}

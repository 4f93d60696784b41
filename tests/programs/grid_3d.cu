// Shows: a grid and blocks of three dimensions, and all of a thread's coordinates.
#include <cstdio>

__global__ void number_all(unsigned *out) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = blockIdx.z * 100000 + blockIdx.y * 10000 + blockIdx.x * 1000 + threadIdx.z * 100 +
                                    threadIdx.y * 10 + threadIdx.x;
}

int main() {
    dim3 grid(3, 2, 2), block(4, 3, 2);
    const int n = 12 * 24;
    unsigned *device, host[n];
    cudaMalloc(&device, sizeof host);
    number_all<<<grid, block>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    unsigned long long sum = 0;
    for (unsigned value : host) sum += value;
    printf("%06u %06u %06u, sum %llu\n", host[0], host[100], host[n - 1], sum);
    cudaFree(device);
    return 0;
}

// Shows: cudaDeviceReset between two uses of the device, after which variables have their first values again.
#include <cstdio>

__device__ int counter = 5;
__global__ void count(int *out) { *out = ++counter; }

static int use(int launches) {
    int *d, h = 0;
    if (cudaMalloc(&d, sizeof h) != cudaSuccess) return -1;
    for (int i = 0; i < launches; i++) count<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    return h; // the memory is given back by the reset
}

int main() {
    printf("%d\n", use(3));
    printf("%s\n", cudaGetErrorName(cudaDeviceReset()));
    printf("%d\n", use(1));
    cudaDeviceReset();
    return 0;
}

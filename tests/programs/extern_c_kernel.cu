// Shows: kernels with C linkage, alone and in a block.
#include <cstdio>

extern "C" __global__ void increment(int *x) { atomicAdd(x, 1); }

extern "C" {
__device__ int twice(int v) { return 2 * v; }

__global__ void double_it(int *x) { *x = twice(*x); }

void launch_double(int *x) { double_it<<<1, 1>>>(x); }
}

int main() {
    int *x, h = 5;
    cudaMalloc((void **)&x, sizeof(int));
    cudaMemcpy(x, &h, sizeof(int), cudaMemcpyHostToDevice);
    increment<<<3, 32>>>(x);
    launch_double(x);
    cudaMemcpy(&h, x, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(x);
    return h != 202;
}

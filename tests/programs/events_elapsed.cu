// Shows: events that time a kernel; only the order of the times is printed.
#include <stdio.h>
#include <cuda_runtime.h>

__global__ void spin(unsigned *x, int rounds) {
    unsigned v = threadIdx.x;
    for (int i = 0; i < rounds; i++) v = v * 1664525u + 1013904223u;
    x[threadIdx.x] = v;
}

int main() {
    cudaEvent_t start, middle, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&middle);
    cudaEventCreate(&stop);
    unsigned *x, h[32];
    cudaMalloc(&x, sizeof h);

    cudaEventRecord(start, 0);
    spin<<<1, 32>>>(x, 10);
    cudaEventRecord(middle);
    spin<<<1, 32>>>(x, 10000);
    cudaEventRecord(stop, 0);
    cudaEventSynchronize(stop);

    float first = -1, all = -1;
    cudaEventElapsedTime(&first, start, middle);
    cudaEventElapsedTime(&all, start, stop);
    printf("elapsed: %s\n", first >= 0 && all >= first ? "in order" : "not in order");
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    unsigned v = 5;
    for (int i = 0; i < 10000; i++) v = v * 1664525u + 1013904223u;
    printf("%u %u\n", h[5], v);
    cudaEvent_t never;
    cudaEventCreate(&never);
    printf("%s\n", cudaGetErrorName(cudaEventElapsedTime(&first, never, stop)));
    cudaEventDestroy(start); cudaEventDestroy(middle); cudaEventDestroy(stop); cudaEventDestroy(never);
    cudaFree(x);
    return 0;
}

// Shows: __managed__ variables that host and device use by name.
#include <cstdio>

__device__ __managed__ int total;
__managed__ float samples[8] = {1, 2, 3};
static __managed__ struct { int x, y; } point = {4, 5};

__global__ void work(int n) {
    int i = threadIdx.x;
    if (i < n) samples[i] = samples[i] * 2 + i;
    atomicAdd(&total, i);
    if (i == 0 && n) point.x += point.y;
}

int main() {
    total = 1000;
    samples[7] = 0.5f;
    work<<<1, 8>>>(8);
    cudaDeviceSynchronize();
    total++;
    printf("%d, %d %d\n", total, point.x, point.y);
    for (float s : samples) printf("%g ", s);
    int *address = &total;
    *address = 3;
    work<<<2, 4>>>(0);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    printf("\n%d\n", total);
}

// Shows: assert in kernels and device functions, where all of them hold.
#include <cassert>
#include <cstdio>

__device__ int root(int v) {
    assert(v >= 0 && "the value must not be negative");
    int r = 0;
    while ((r + 1) * (r + 1) <= v) r++;
    assert(r * r <= v);
    return r;
}

__global__ void roots(int *x, int n) {
    const int i = threadIdx.x;
    assert(blockDim.x >= (unsigned)n);
    static_assert(sizeof(int) == 4, "an int has four bytes");
    if (i < n) x[i] = root(x[i]);
}

int main() {
    int h[] = {0, 1, 15, 16, 17, 99, 100, 65536}, *d;
    const int n = sizeof h / sizeof *h;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    roots<<<1, n>>>(d, n);
    cudaError_t status = cudaDeviceSynchronize();
    assert(status == cudaSuccess);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int v : h) printf("%d ", v);
    printf("\n%s\n", cudaGetErrorString(status));
    cudaFree(d);
}

// Shows: cudaLaunchKernel with an array of arguments, for plain kernels, templates and structs.
#include <cstdio>
#include <cassert>

struct Pair { short a; double b; };
__global__ void fill(int *out, int n, float scale, Pair p, char c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = int(i * scale) + p.a + int(p.b) + c;
}
template <typename T, int N> __global__ void multiply(T *x, int n) {
    extern __shared__ T s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = x[i];
    x[i] = s[threadIdx.x] * N;
}

cudaError_t launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0) {
    return cudaLaunchKernel(kernel, grid, block, args, shared, nullptr);
}

int main() {
    int n = 100, *out, h[100];
    cudaMalloc(&out, sizeof h);
    float scale = 1.5f;
    Pair p = {1000, 20.75};
    char c = 3;
    void *args[] = {&out, &n, &scale, &p, &c};
    cudaError_t status = cudaLaunchKernel((void *)fill, dim3(4), dim3(32), args, 0, 0);
    assert(status == cudaSuccess);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[n - 1]);
    void *more[] = {(void *)&out, (void *)&n};
    status = launch((const void *)multiply<int, 3>, 4, 32, more, 32 * sizeof(int));
    assert(status == cudaSuccess);
    status = launch(reinterpret_cast<void *>(&multiply<int, -1>), {4, 1, 1}, {32, 1, 1}, more, 32 * sizeof(int));
    assert(status == cudaSuccess);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[n - 1]);
    printf("%s\n", cudaGetErrorName(launch((void *)fill, 1, 4096, args)));
    cudaGetLastError();
    cudaFree(out);
    return 0;
}

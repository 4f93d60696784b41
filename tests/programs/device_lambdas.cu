// Shows: lambdas inside kernels and device functions that take them.
#include <cstdio>

template <typename F> __device__ void for_each_item(int n, F &&f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) f(i);
}

__global__ void polynomial(int *out, int n, int a, int b)
{
    auto value = [=](int x) { return a * x * x + b; };
    for_each_item(n, [&](int i) {
        auto twice = [](auto v) { return v + v; };
        out[i] = twice(value(i));
    });
    if (threadIdx.x == 0 && blockIdx.x == 0)
        [&]() { out[n] = [n]() -> int { return -n; }(); }();
}

int main()
{
    const int n = 77;
    int *d, h[n + 1];
    cudaMalloc(&d, sizeof(h));
    auto go = [&](int a, int b) { polynomial<<<3, 16>>>(d, n, a, b); return cudaGetLastError(); };
    if (go(3, 4) != cudaSuccess) return 1;
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (h[i] != 2 * (3 * i * i + 4)) { printf("wrong at %d\n", i); return 1; }
    printf("%d %d %d\n", h[0], h[n - 1], h[n]);
    cudaFree(d);
    return 0;
}

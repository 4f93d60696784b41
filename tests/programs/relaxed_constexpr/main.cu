// Shows: constexpr host functions on the device, extended lambdas as kernel arguments, and common compiler options.
#include <algorithm>
#include <array>
#include <cstdio>

constexpr int square(int v) { return v * v; }
constexpr int weight(int i) {
    std::array<int, 4> weights{1, 2, 4, 8};
    return weights[i % weights.size()];
}

template <typename F> __global__ void for_each(int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <typename F> void parallel_for(int n, F f) { for_each<<<(n + 127) / 128, 128>>>(n, f); }

int main() {
    const int n = 500;
    int *out, wrong = 0, factor = 3;
    cudaMallocManaged(&out, n * sizeof *out);
    parallel_for(n, [=] __device__(int i) { out[i] = square(i) * factor + weight(i); });
    parallel_for(n, [out] __host__ __device__(int i) { out[i] = std::max(out[i], 1000); });
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) wrong += out[i] != std::max(i * i * 3 + weight(i), 1000);
    printf("%d %d, %d wrong\n", out[0], out[n - 1], wrong);
    cudaFree(out);
    return wrong;
}

// Shows: C++20: concepts on kernels, designated initialisers, spans, ranges on the host and a template lambda.
#include <algorithm>
#include <concepts>
#include <cstdio>
#include <ranges>
#include <span>
#include <vector>

template <typename T> concept Number = std::integral<T> || std::floating_point<T>;
template <typename F, typename T> concept Unary = requires(F f, T t) { { f(t) } -> std::convertible_to<T>; };

struct Clamp {
    int low = 0, high = 100;
    __host__ __device__ auto operator()(Number auto v) const { return v < low ? low : v > high ? high : v; }
};

template <Number T, Unary<T> F> __global__ void apply(T *x, int n, F f) {
    if (int i = threadIdx.x; i < n) x[i] = f(x[i]);
}
template <Number T> requires(sizeof(T) == 4) __global__ void negate(T *x, int n) {
    auto flip = []<typename V>(V v) { return -v; };
    if (int i = threadIdx.x; i < n) x[i] = flip(x[i]);
}

int main() {
    std::vector<int> h(20);
    std::ranges::generate(h, [v = -50]() mutable { return v += 10; });
    std::span<int> view(h);
    int *d;
    cudaMalloc(&d, view.size_bytes());
    cudaMemcpy(d, view.data(), view.size_bytes(), cudaMemcpyHostToDevice);
    apply<<<1, 32>>>(d, int(view.size()), Clamp{.high = 70});
    negate<<<1, 32>>>(d, int(view.size()));
    cudaMemcpy(view.data(), d, view.size_bytes(), cudaMemcpyDeviceToHost);
    for (int v : h | std::views::drop(3) | std::views::take(12)) printf("%d ", v);
    printf("\n");
    cudaFree(d);
}

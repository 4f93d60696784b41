// Shows: a kernel template with specialisations, and one that is instantiated explicitly.
#include <cstdio>

template <typename T> __global__ void describe(int *out) { *out = 0; }
template <> __global__ void describe<float>(int *out) { *out = 32; }
template <> __global__ void describe<double>(int *out) { *out = 64; }

template <typename T> struct Limits;
template <> struct Limits<short> { static __device__ int top() { return 32767; } };
template <> struct Limits<char> { static __device__ int top() { return 127; } };

template <typename T> __global__ void top(int *out) { *out = Limits<T>::top(); }
template __global__ void top<char>(int *);
template __global__ void top<short>(int *);

template <typename T> int run(void (*kernel)(int *)) {
    int *d, h;
    cudaMalloc(&d, sizeof(int));
    kernel<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d);
    return h;
}

int main() {
    printf("%d %d %d\n", run<int>(describe<int>), run<float>(describe<float>), run<double>(&describe<double>));
    printf("%d %d\n", run<char>(top<char>), run<short>(top<short>));
    return 0;
}

// Shows: shared variables in inner blocks, in device functions and templates, and pointers to them as arguments.
#include <cstdio>

typedef int Tile[8][9];
struct Pair { int a, b; };
template <typename T> struct Storage { struct Temp { T values[64]; int count; }; };

template <typename T> __device__ T *scratch() {
    __shared__ T memory[64]; // one array for each type
    return memory;
}
__device__ int rotate(volatile int *s, int by) {
    __syncthreads();
    return s[(threadIdx.x + by) % 64];
}
__device__ int own_sum(int v) {
    __shared__ int sum;
    __syncthreads();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, v);
    __syncthreads();
    return sum;
}
namespace inner { __device__ void set(Pair &p, int v) { p.a = v, p.b = -v; } }

template <typename T, int N> __global__ void places(T *out) {
    const int t = threadIdx.x;
    __shared__ Tile tile;
    tile[t / 8][t % 8] = t;
    int result = 0;
    for (int round = 0; round < 2; round++) {
        __shared__ T in_loop[N];
        in_loop[t] = T(t + round);
        result += rotate(in_loop, 1 + round);
        __syncthreads();
    }
    if (N == 64) {
        __shared__ Pair pair;
        __shared__ typename Storage<T>::Temp temp;
        if (t == N - 1) inner::set(pair, 1000), temp.count = 7;
        temp.values[N - 1 - t] = tile[t % 8][t / 8];
        __syncthreads();
        result += pair.a + pair.b + temp.count + temp.values[t];
    }
    scratch<int>()[t] = 1, scratch<float>()[t] = 2, scratch<char>()[t] = 3;
    __syncthreads();
    result += scratch<int>()[t ^ 1] * 100 + int(scratch<float>()[t ^ 2]) * 10 + scratch<char>()[t ^ 3];
    out[t] = result + own_sum(t) + own_sum(1);
}

int main() {
    int *out, h[64], wrong = 0;
    cudaMalloc(&out, sizeof h);
    places<int, 64><<<1, 64>>>(out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; t++) {
        int m = 63 - t, expected = (t + 1) % 64 + (t + 2) % 64 + 1 + 7 + (m % 8 * 8 + m / 8) + 123 + 2016 + 64;
        wrong += h[t] != expected;
    }
    printf("%d %d, %d wrong\n", h[0], h[63], wrong);
    cudaFree(out);
    return wrong;
}

// Shows: explicit template arguments before the launch, also nested ones that end in several brackets.
#include <cstdio>
#include <type_traits>

template <typename A, typename B> struct Pair { A first; B second; };

template <class T, class U = T, int SCALE = (1 << 4)>
__global__ void convert(const T *in, U *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = static_cast<U>(in[i] * SCALE);
}

template <class P>
__global__ void swap_pairs(P *pairs, int n) {
    int i = threadIdx.x;
    if (i < n) pairs[i] = P{pairs[i].second, pairs[i].first};
}

template <bool> __global__ void flag(int *out) { *out = 1; }
template <> __global__ void flag<true>(int *out) { *out = 2; }

int main() {
    int *in;
    double *out;
    cudaMallocManaged(&in, 8 * sizeof(int));
    cudaMallocManaged(&out, 8 * sizeof(double));
    for (int i = 0; i < 8; i++) in[i] = i;
    convert<int, double, 3><<<1, 32>>>(in, out, 8);
    cudaDeviceSynchronize();
    printf("%g %g\n", out[1], out[7]);
    convert<int, double><<<1, 32>>>(in, out, 8);
    cudaDeviceSynchronize();
    printf("%g %g\n", out[1], out[7]);
    convert<int, std::conditional_t<(sizeof(int) > 2), double, float>, (3 > 2 ? 5 : 6)> <<<1, 32>>>(in, out, 8);
    cudaDeviceSynchronize();
    printf("%g %g\n", out[1], out[7]);

    Pair<Pair<int, int>, Pair<int, int>> *pairs;
    cudaMallocManaged(&pairs, 2 * sizeof *pairs);
    pairs[1] = {{1, 2}, {3, 4}};
    swap_pairs<Pair<Pair<int, int>, Pair<int, int>>><<<1, 2>>>(pairs, 2);
    cudaDeviceSynchronize();
    printf("%d %d %d %d\n", pairs[1].first.first, pairs[1].first.second, pairs[1].second.first, pairs[1].second.second);

    flag<(8 >> 1 < 3)><<<1, 1>>>(in);
    cudaDeviceSynchronize();
    int first = *in;
    flag<!false><<<1, 1>>>(in);
    cudaDeviceSynchronize();
    printf("%d %d\n", first, *in);
    cudaFree(in);
    cudaFree(out);
    cudaFree(pairs);
    return 0;
}

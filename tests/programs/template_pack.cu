// Shows: a kernel with a parameter pack, and a launcher that forwards its own.
#include <cstdio>
#include <utility>

template <typename... Ts>
__global__ void add_all(int n, double *out, Ts... arrays) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (0.0 + ... + arrays[i]);
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), int n, Arguments &&...arguments) {
    kernel<<<(n + 63) / 64, 64>>>(n, std::forward<Arguments>(arguments)...);
}

int main() {
    const int n = 200;
    double *out;
    float *f;
    int *i;
    short *s;
    cudaMallocManaged(&out, n * sizeof *out);
    cudaMallocManaged(&f, n * sizeof *f);
    cudaMallocManaged(&i, n * sizeof *i);
    cudaMallocManaged(&s, n * sizeof *s);
    for (int k = 0; k < n; k++) f[k] = k * 0.5f, i[k] = k, s[k] = short(-k);

    add_all<<<4, 64>>>(n, out);
    cudaDeviceSynchronize();
    printf("%g\n", out[n - 1]);
    add_all<<<4, 64>>>(n, out, f, i, s);
    cudaDeviceSynchronize();
    printf("%g\n", out[n - 1]);
    launch(add_all<float *, int *>, n, out, f, i);
    cudaDeviceSynchronize();
    printf("%g\n", out[n - 1]);
    cudaFree(out), cudaFree(f), cudaFree(i), cudaFree(s);
}

// Shows: pointers to device functions: a table on the device, and one that the host copies from a symbol.
#include <cstdio>

typedef float (*func_t)(float, float);
__device__ float add_func(float x, float y) { return x + y; }
__device__ float mul_func(float x, float y) { return x * y; }
template <typename T> __device__ T power(T x, T y) { T r = 1; for (int i = 0; i < int(y); i++) r *= x; return r; }

__device__ func_t p_add_func = add_func;
__device__ func_t p_power = power<float>;
__device__ func_t table[] = {add_func, mul_func, &power<float>};
__constant__ func_t constant_table[2] = {mul_func, add_func};

__global__ void apply(const float *x, const float *y, float *out, func_t op) {
    int i = threadIdx.x;
    out[i] = (*op)(x[i], y[i]);
}
__global__ void by_table(const float *x, const float *y, float *out) {
    int i = threadIdx.x;
    func_t local = i == 7 ? mul_func : table[i % 3];
    out[i] = local(x[i], y[i]) + constant_table[i & 1](1, 2);
}

int main() {
    float *x, *y, *out;
    cudaMallocManaged(&x, 32), cudaMallocManaged(&y, 32), cudaMallocManaged(&out, 32);
    for (int i = 0; i < 8; i++) x[i] = i + 1, y[i] = i % 4;
    func_t h_func;
    cudaMemcpyFromSymbol(&h_func, p_add_func, sizeof(func_t));
    apply<<<1, 8>>>(x, y, out, h_func);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++) printf("%g ", out[i]);
    cudaMemcpyFromSymbol(&h_func, p_power, sizeof(func_t));
    apply<<<1, 8>>>(x, y, out, h_func);
    cudaDeviceSynchronize();
    printf("\n");
    for (int i = 0; i < 8; i++) printf("%g ", out[i]);
    by_table<<<1, 8>>>(x, y, out);
    cudaDeviceSynchronize();
    printf("\n");
    for (int i = 0; i < 8; i++) printf("%g ", out[i]);
    printf("\n");
    cudaFree(x), cudaFree(y), cudaFree(out);
}

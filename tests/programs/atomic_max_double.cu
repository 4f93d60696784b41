// Shows: atomic operations that CUDA lacks, made from compare-and-swap loops.
#include <cstdio>
#include <cfloat>

__device__ double atomicMaxDouble(double *address, double val)
{
    unsigned long long int *address_as_ull = (unsigned long long int *)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed,
                        __double_as_longlong(fmax(val, __longlong_as_double(assumed))));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__device__ float atomicMulFloat(float *address, float val)
{
    int *p = reinterpret_cast<int *>(address), old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __float_as_int(val * __int_as_float(assumed)));
    } while (old != assumed);
    return __int_as_float(old);
}

__device__ unsigned short atomicAddShort(unsigned short *address, unsigned short v)
{
    unsigned short old = *address, assumed;
    do { assumed = old; old = atomicCAS(address, assumed, (unsigned short)(assumed + v)); } while (old != assumed);
    return old;
}

__global__ void work(const double *x, int n, double *best, float *product, unsigned short *shorts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMaxDouble(best, x[i]);
    if (i < 20) atomicMulFloat(product, 2.0f);
    atomicAddShort(&shorts[i & 1], i & 7);
}

int main()
{
    const int n = 3000;
    double *x, *best, expected = -DBL_MAX;
    float *product;
    unsigned short *shorts, sums[2] = {};
    cudaMallocManaged(&x, n * sizeof(double));
    cudaMallocManaged(&best, sizeof(double));
    cudaMallocManaged(&product, sizeof(float));
    cudaMallocManaged(&shorts, 2 * sizeof(short));
    for (int i = 0; i < n; i++) {
        x[i] = (i * 7919 % 3001) / 16.0 - 100;
        if (x[i] > expected) expected = x[i];
        sums[i & 1] += i & 7;
    }
    *best = -DBL_MAX, *product = 1, shorts[0] = shorts[1] = 0;
    work<<<(n + 127) / 128, 128>>>(x, n, best, product, shorts);
    cudaDeviceSynchronize();
    printf("%g %g\n%g\n%d %d %d %d\n", *best, expected, *product, shorts[0], sums[0], shorts[1], sums[1]);
    cudaFree(x); cudaFree(best); cudaFree(product); cudaFree(shorts);
}

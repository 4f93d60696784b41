// Shows: kernels whose declaration begins with a macro.
#include <cstdio>

#define KERNEL extern "C" __global__ void
#define GLOBAL __global__
#define DEVICE __device__ __forceinline__
#define HD __host__ __device__
#define KERNEL_OF(threads) __global__ void __launch_bounds__(threads)
#ifdef __CUDACC__
#define ENTRY static GLOBAL void
#else
#define ENTRY static void
#endif

HD int cube(int v) { return v * v * v; }
DEVICE int index() { return threadIdx.x + blockIdx.x * blockDim.x; }

KERNEL cubes(int *out, int n)
{
    if (index() < n) out[index()] = cube(index());
}

GLOBAL void negate(int *out, int n) { if (index() < n) out[index()] = -out[index()]; }

KERNEL_OF(128) shift(int *out, int n) {
    if (index() < n) out[index()] += 5;
}

ENTRY double_all(int *out, int n) { if (index() < n) out[index()] *= 2; }

int main()
{
    const int n = 200;
    int *out;
    cudaMallocManaged(&out, n * sizeof(int));
    cubes<<<2, 128>>>(out, n);
    negate<<<2, 128>>>(out, n);
    shift<<<2, 128>>>(out, n);
    double_all<<<2, 128>>>(out, n);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += out[i] != 2 * (5 - cube(i));
    printf("%d %d, %d wrong\n", out[3], out[n - 1], wrong);
    cudaFree(out);
    return wrong != 0;
}

// Shows: __launch_bounds__ in each place that nvcc allows, and __maxnreg__.
#include <cstdio>
#define THREADS 256

__global__ void __launch_bounds__(THREADS) after_void(int *x) { atomicAdd(x, 1); }
__global__ __launch_bounds__(THREADS, 2) void before_void(int *x) { atomicAdd(x, 10); }
__launch_bounds__(THREADS / 2, 4) __global__ void before_global(int *x) { atomicAdd(x, 100); }
template <int N> __global__ void __launch_bounds__(N, (N > 100 ? 1 : 2))
in_template(int *x) { if (threadIdx.x == N - 1) atomicAdd(x, 1000); }
extern "C" __global__ void
__launch_bounds__(THREADS)
own_line(int *x)
{
    if (threadIdx.x == 0) atomicAdd(x, 100000);
}
__global__ void __maxnreg__(64) few_registers(int *x) { if (!threadIdx.x) atomicAdd(x, 1000000); }

int main()
{
    int *x, h;
    cudaMalloc(&x, sizeof(int));
    cudaMemset(x, 0, sizeof(int));
    after_void<<<1, 2>>>(x);
    before_void<<<1, 3>>>(x);
    before_global<<<1, 4>>>(x);
    in_template<64><<<5, 64>>>(x);
    own_line<<<6, THREADS>>>(x);
    few_registers<<<7, 32>>>(x);
    cudaMemcpy(&h, x, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    before_global<<<1, THREADS>>>(x);
    printf("%s\n", cudaGetLastError() == cudaSuccess ? "launched" : "more threads than the bound allows");
    cudaDeviceSynchronize();
    cudaFree(x);
}

// Shows: kernels and device functions that are declared before main and defined after it.
#include <cstdio>
#include <cstdlib>

__global__ void collatz(int *steps, int n);
template <typename T> __global__ void largest(const T *values, int n, T *result);
__device__ int step_count(unsigned long long);
__global__ void count_down(int *, int);
void report(const char *name, int value);

int main()
{
    const int n = 1000;
    int *steps, *result, h;
    cudaMalloc(&steps, n * sizeof(int));
    cudaMalloc(&result, sizeof(int));
    collatz<<<(n + 255) / 256, 256>>>(steps, n);
    largest<int><<<1, 1>>>(steps, n, result);
    cudaMemcpy(&h, result, sizeof(int), cudaMemcpyDeviceToHost);
    report("longest chain", h);
    count_down<<<1, 1>>>(result, 70);
    cudaMemcpy(&h, result, sizeof(int), cudaMemcpyDeviceToHost);
    report("remaining", h);
    cudaFree(steps);
    cudaFree(result);
    return EXIT_SUCCESS;
}

void report(const char *name, int value) { printf("%s: %d\n", name, value); }

__global__ void collatz(int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) steps[i] = step_count(i + 1);
}

__device__ int step_count(unsigned long long v)
{
    int steps = 0;
    for (; v != 1; ++steps) v = v % 2 ? 3 * v + 1 : v / 2;
    return steps;
}

template <typename T> __global__ void largest(const T *values, int n, T *result)
{
    T best = values[0];
    for (int i = 1; i < n; i++)
        if (values[i] > best) best = values[i];
    *result = best;
}

__global__ void count_down(int *value, int by) { *value -= by; }

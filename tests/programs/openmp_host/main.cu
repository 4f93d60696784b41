// Shows: OpenMP on the host (-Xcompiler -fopenmp): each thread of the host launches into a stream of its own.
#include <omp.h>
#include <stdio.h>

__global__ void kernelAddConstant(int *g_a, const int b)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    g_a[idx] += b;
}

int main()
{
    const int parts = 4, n = 1024;
    int a[parts * n], threads = 0;
    long long host = 0, device = 0;
    omp_set_num_threads(parts);
#pragma omp parallel for reduction(+ : host)
    for (int i = 0; i < parts * n; i++) {
        a[i] = i;
        host += i + i / n;
    }
#pragma omp parallel
    {
        int part = omp_get_thread_num(), *d_a;
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaMalloc(&d_a, n * sizeof(int));
        cudaMemcpyAsync(d_a, a + part * n, n * sizeof(int), cudaMemcpyHostToDevice, stream);
        kernelAddConstant<<<n / 128, 128, 0, stream>>>(d_a, part);
        cudaMemcpyAsync(a + part * n, d_a, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        cudaFree(d_a);
        cudaStreamDestroy(stream);
#pragma omp atomic
        threads++;
    }
    for (int v : a) device += v;
    printf("%d threads, %lld %lld\n", threads, device, host);
    return device != host;
}

// Shows: clock and clock64, which grow.
#include <stdio.h>
#include <time.h>

__global__ static void timedWork(float *data, bool *grew)
{
    const int tid = threadIdx.x;
    clock_t start = clock();
    long long start64 = clock64();
    float v = data[tid];
    for (int i = 0; i < 1000; i++) v = v * 1.0001f + 0.5f;
    data[tid] = v;
    long long end64 = clock64();
    clock_t end = clock();
    grew[tid] = end64 > start64 && end - start > 0;
}

int main()
{
    float *data; bool *grew, h[64];
    cudaMalloc((void **)&data, 64 * sizeof(float));
    cudaMalloc((void **)&grew, sizeof(h));
    cudaMemset(data, 0, 64 * sizeof(float));
    clock_t host = clock();
    timedWork<<<1, 64>>>(data, grew);
    cudaMemcpy(h, grew, sizeof(h), cudaMemcpyDeviceToHost);
    int good = 0;
    for (int i = 0; i < 64; i++) good += h[i];
    printf("%d of 64 threads saw the clock grow, host: %s\n", good, clock() >= host ? "yes" : "no");
    cudaFree(data);
    cudaFree(grew);
    return 0;
}

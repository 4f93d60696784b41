// Shows: the helper headers of sample collections, which look at the guards of CUDA's own headers.
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>
#include <helper.h>

__global__ void saturating_add(const unsigned char *a, const unsigned char *b, unsigned char *c, int n)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = (unsigned char)min(a[i] + b[i], 255);
}

int main(int argc, char **argv)
{
    findCudaDevice(argc, (const char **)argv);
    const int n = 256;
    unsigned char *p;
    checkCudaErrors(cudaMallocManaged((void **)&p, 3 * n));
    for (int i = 0; i < n; i++) p[i] = i, p[n + i] = i;
    checkCudaErrors(cudaProfilerStart());
    saturating_add<<<1, n>>>(p, p + n, p + 2 * n, n);
    getLastCudaError("saturating_add() execution failed");
    checkCudaErrors(cudaDeviceSynchronize());
    checkCudaErrors(cudaProfilerStop());
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += p[2 * n + i] != (i < 128 ? 2 * i : 255);
    printf("%d wrong\n", wrong);
    checkCudaErrors(cudaFree(p));
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

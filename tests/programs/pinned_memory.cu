// Shows: pinned host memory, made and registered, copied asynchronously in both directions.
#include <stdio.h>
#include <stdlib.h>

#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
template <typename T> void check(T result, char const *const func, const char *const file, int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, static_cast<unsigned int>(result),
                cudaGetErrorName(result), func);
        exit(EXIT_FAILURE);
    }
}

__global__ void addOne(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

int main(int, char **)
{
    const int n = 10000;
    int *a, *b, *own = (int *)malloc(n * sizeof(int)), *d;
    checkCudaErrors(cudaMallocHost((void **)&a, n * sizeof(int)));
    checkCudaErrors(cudaHostAlloc((void **)&b, n * sizeof(int), cudaHostAllocDefault));
    checkCudaErrors(cudaHostRegister(own, n * sizeof(int), cudaHostRegisterDefault));
    checkCudaErrors(cudaMalloc((void **)&d, n * sizeof(int)));
    cudaStream_t stream;
    checkCudaErrors(cudaStreamCreate(&stream));
    for (int i = 0; i < n; i++) a[i] = i;
    checkCudaErrors(cudaMemcpyAsync(d, a, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    addOne<<<(n + 255) / 256, 256, 0, stream>>>(d, n);
    checkCudaErrors(cudaMemcpyAsync(b, d, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    addOne<<<(n + 255) / 256, 256, 0, stream>>>(d, n);
    checkCudaErrors(cudaMemcpyAsync(own, d, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    checkCudaErrors(cudaStreamSynchronize(stream));
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += b[i] != i + 1 || own[i] != i + 2;
    unsigned flags;
    checkCudaErrors(cudaHostGetFlags(&flags, b));
    cudaPointerAttributes attributes;
    checkCudaErrors(cudaPointerGetAttributes(&attributes, a));
    printf("%d wrong, %s\n", wrong, attributes.type == cudaMemoryTypeHost ? "host" : "not host");
    checkCudaErrors(cudaHostUnregister(own));
    checkCudaErrors(cudaFreeHost(a));
    checkCudaErrors(cudaFreeHost(b));
    checkCudaErrors(cudaFree(d));
    checkCudaErrors(cudaStreamDestroy(stream));
    free(own);
    return wrong;
}

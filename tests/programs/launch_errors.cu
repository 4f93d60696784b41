// Shows: launches that CUDA refuses, the names and texts of errors, and cudaGetLastError and its peek.
#include <stdio.h>

__global__ void kernel(int *x) { if (x) *x = 1; }

static void show(const char *what)
{
    cudaError_t peeked = cudaPeekAtLastError(), again = cudaPeekAtLastError();
    cudaError_t last = cudaGetLastError(), after = cudaGetLastError();
    printf("%s: %s (%s); %s, %s\n", what, cudaGetErrorName(last), cudaGetErrorString(last),
           peeked == again && again == last ? "kept" : "lost", after == cudaSuccess ? "then reset" : "not reset");
}

int main()
{
    int *x = NULL;
    kernel<<<1, 1>>>(x);
    show("right");
    kernel<<<1, 2048>>>(x);
    show("2048 threads");
    kernel<<<0, 32>>>(x);
    show("no blocks");
    kernel<<<1, 0>>>(x);
    show("no threads");
    kernel<<<dim3(1, 70000), 32>>>(x);
    show("a grid of 70000 rows");
    kernel<<<1, dim3(1, 1, 128)>>>(x);
    show("128 threads in z");
    kernel<<<1, 1, 1 << 20>>>(x);
    show("a megabyte of shared memory");
    cudaMalloc(&x, (size_t)1 << 60);
    show("an exabyte");
    cudaMemcpy(&x, NULL, 4, (cudaMemcpyKind)77);
    show("a copy of kind 77");
    cudaSetDevice(1000);
    show("device 1000");
    kernel<<<1, 1>>>(NULL);
    printf("still works: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}

// Shows: launches and kernels under preprocessor conditions, and the macros that CUDA compilers define.
#include <cstdio>
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

#if defined(__CUDACC__) && defined(__cplusplus)
#  define USE_GPU 1
#endif
#ifndef BLOCK
#define BLOCK 64
#endif

#if USE_GPU
__device__ int where() {
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 0; // nvcc reads this file for the host, too
#endif
}
__global__ void ask(int *out) {
#if __CUDA_ARCH__ >= 300
    if (threadIdx.x < BLOCK) out[threadIdx.x] = where();
#endif
}
#else
#error "compile this with a CUDA compiler"
#endif

int main() {
    int *d, h[BLOCK];
    cudaMalloc(&d, sizeof h);
#if 0
    not_there<<<1, 1>>>(d;
#elif BLOCK > 32
    ask<<<
#if BLOCK > 1024
        2,
#else
        1,
#endif
        BLOCK>>>(d);
#endif
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int v : h) sum += v;
    printf("%d of %d threads\n", sum, BLOCK);
    printf("version %s\n", CUDART_VERSION >= 12000 && __CUDACC_VER_MAJOR__ >= 12 ? "12 or later" : "old");
    cudaFree(d);
    return 0;
}

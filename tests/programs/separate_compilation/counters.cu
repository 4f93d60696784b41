#include "physics.cuh"

__device__ int calls = 0;
static __global__ void nothing() {}

__device__ void count_call() { atomicAdd(&calls, 1); }

int launched()
{
    int n = 0;
    for (; n < 3; n++) nothing<<<1, 1>>>();
    return cudaGetLastError() == cudaSuccess ? n : -1;
}

#include "launch.h"

__global__ static void square(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

extern "C" int vector_square(const float *in, float *out, int n)
{
    float *d_in, *d_out;
    if (n < 0) return cudaErrorInvalidValue;
    cudaMalloc((void **)&d_in, n * sizeof(float));
    cudaMalloc((void **)&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice);
    square<<<(n + 63) / 64, 64>>>(d_in, d_out, n);
    cudaError_t status = cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return status;
}

extern "C" const char *vector_error(int code) { return cudaGetErrorString((cudaError_t)code); }

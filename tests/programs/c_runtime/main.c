// Shows: a C program that itself uses the runtime, its structs and enums, and kernels of a CUDA file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime_api.h>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

void launch_histogram(const unsigned char *text, int n, unsigned int *bins, cudaStream_t stream);
extern const void *histogram_function;

int main(void)
{
    const char *text = "the rain in spain stays mainly in the plain";
    int n = (int)strlen(text), device;
    unsigned char *d_text;
    unsigned int *d_bins, bins[256];
    cudaStream_t stream;
    cudaEvent_t done;
    struct cudaDeviceProp properties;
    dim3 one = {1, 1, 1}, block = {64, 1, 1};
    void *args[3];

    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&properties, device));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaMalloc((void **)&d_text, n));
    CHECK(cudaMalloc((void **)&d_bins, sizeof bins));
    CHECK(cudaMemcpyAsync(d_text, text, n, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(d_bins, 0, sizeof bins, stream));
    launch_histogram(d_text, n, d_bins, stream);
    args[0] = &d_text, args[1] = &n, args[2] = &d_bins;
    CHECK(cudaLaunchKernel(histogram_function, one, block, args, 0, stream));
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost));
    printf("a %u, i %u, n %u, warp %d\n", bins['a'], bins['i'], bins['n'], properties.warpSize);
    CHECK(cudaFree(d_text));
    CHECK(cudaFree(d_bins));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}

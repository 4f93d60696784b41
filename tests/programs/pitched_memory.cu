// Shows: pitched memory: rows that begin at aligned addresses, reached through the pitch in bytes.
#include <stdio.h>
#include <stdlib.h>

__global__ void MyKernel(float *devPtr, size_t pitch, int width, int height)
{
    for (int r = blockIdx.x; r < height; r += gridDim.x) {
        float *row = (float *)((char *)devPtr + r * pitch);
        for (int c = threadIdx.x; c < width; c += blockDim.x) {
            float element = row[c];
            row[c] = element * 2 + r;
        }
    }
}

int main()
{
    int width = 61, height = 64;
    float *devPtr, *h = (float *)malloc(width * height * sizeof(float));
    size_t pitch;
    for (int i = 0; i < width * height; i++) h[i] = i;
    cudaError_t err = cudaMallocPitch(&devPtr, &pitch, width * sizeof(float), height);
    if (err != cudaSuccess) exit(1);
    printf("pitch is %s\n", pitch % 256 == 0 && pitch >= width * sizeof(float) ? "aligned" : "wrong");
    cudaMemcpy2D(devPtr, pitch, h, width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice);
    MyKernel<<<100, 512>>>(devPtr, pitch, width, height);
    cudaMemset2D((char *)devPtr + 2 * pitch, pitch, 0, 10 * sizeof(float), 3);
    cudaMemcpy2D(h, width * sizeof(float), devPtr, pitch, width * sizeof(float), height, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int r = 0; r < height; r++)
        for (int c = 0; c < width; c++) {
            float expected = r >= 2 && r < 5 && c < 10 ? 0 : (r * width + c) * 2 + r;
            wrong += h[r * width + c] != expected;
        }
    printf("%g, %d wrong\n", h[width * height - 1], wrong);
    cudaFree(devPtr);
    free(h);
    return wrong != 0;
}

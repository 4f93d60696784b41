// Shows: work shared among all devices that there are, which need not be more than one.
#include <stdio.h>
#include <stdlib.h>

const int MAX_GPU_COUNT = 32;
typedef struct {
    int dataN;
    float *h_Data, *d_Data;
    double *d_Sum, h_Sum;
    cudaStream_t stream;
} TGPUplan;

__global__ static void reduceKernel(double *d_Result, float *d_Input, int N)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    const int threadN = gridDim.x * blockDim.x;
    double sum = 0;
    for (int pos = tid; pos < N; pos += threadN) sum += d_Input[pos];
    atomicAdd(d_Result, sum);
}

int main(int argc, char **argv)
{
    TGPUplan plan[MAX_GPU_COUNT];
    const int DATA_N = 20000;
    int GPU_N, gpuBase = 0;
    double sumGPU = 0;
    cudaGetDeviceCount(&GPU_N);
    if (GPU_N > MAX_GPU_COUNT) GPU_N = MAX_GPU_COUNT;
    for (int i = 0; i < GPU_N; i++) plan[i].dataN = DATA_N / GPU_N + (i < DATA_N % GPU_N);
    for (int i = 0; i < GPU_N; i++) {
        cudaSetDevice(i);
        cudaStreamCreate(&plan[i].stream);
        cudaMalloc((void **)&plan[i].d_Data, plan[i].dataN * sizeof(float));
        cudaMalloc((void **)&plan[i].d_Sum, sizeof(double));
        cudaMallocHost((void **)&plan[i].h_Data, plan[i].dataN * sizeof(float));
        for (int j = 0; j < plan[i].dataN; j++) plan[i].h_Data[j] = (float)(gpuBase++ % 100);
    }
    for (int i = 0; i < GPU_N; i++) {
        cudaSetDevice(i);
        cudaMemcpyAsync(plan[i].d_Data, plan[i].h_Data, plan[i].dataN * sizeof(float), cudaMemcpyHostToDevice, plan[i].stream);
        cudaMemsetAsync(plan[i].d_Sum, 0, sizeof(double), plan[i].stream);
        reduceKernel<<<8, 128, 0, plan[i].stream>>>(plan[i].d_Sum, plan[i].d_Data, plan[i].dataN);
        cudaMemcpyAsync(&plan[i].h_Sum, plan[i].d_Sum, sizeof(double), cudaMemcpyDeviceToHost, plan[i].stream);
    }
    for (int i = 0; i < GPU_N; i++) {
        cudaSetDevice(i);
        cudaStreamSynchronize(plan[i].stream);
        sumGPU += plan[i].h_Sum;
        cudaFreeHost(plan[i].h_Data), cudaFree(plan[i].d_Sum), cudaFree(plan[i].d_Data);
        cudaStreamDestroy(plan[i].stream);
    }
    printf("GPU sum: %f\n", sumGPU);
    exit(argc > 0 && argv && sumGPU == 990000 ? EXIT_SUCCESS : EXIT_FAILURE);
}

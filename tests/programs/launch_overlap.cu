// Shows: two launches that may overlap: the second one waits for the first one's results in the kernel itself.
#include <cstdio>

__global__ void first(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i * i;
    cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void second(const int *x, int *y, int n, int more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int own = more * i; // needs nothing of the first one
    cudaGridDependencySynchronize();
    if (i < n) y[i] = x[n - 1 - i] + own;
}

int main() {
    const int n = 1000;
    int *x, *y, wrong = 0;
    cudaMallocManaged(&x, n * sizeof(int));
    cudaMallocManaged(&y, n * sizeof(int));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    first<<<4, 256, 0, stream>>>(x, n);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(256);
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaError_t e = cudaLaunchKernelEx(&config, second, (const int *)x, y, n, 3);
    printf("%s\n", cudaGetErrorString(e));
    cudaStreamSynchronize(stream);
    for (int i = 0; i < n; i++) wrong += y[i] != (n - 1 - i) * (n - 1 - i) + 3 * i;
    printf("%d wrong, y[1] = %d\n", wrong, y[1]);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(y);
    return wrong;
}

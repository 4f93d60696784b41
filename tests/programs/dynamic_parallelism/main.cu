// Shows: dynamic parallelism: kernels that launch kernels, several levels deep, also with a stream of their own.
#include <cstdio>

__global__ void child(int *out, int first, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[first + i], 1);
}

__global__ void halves(int *out, int first, int n) {
    if (n <= 8) {
        child<<<1, 8>>>(out, first, n);
        return;
    }
    halves<<<1, 1>>>(out, first, n / 2);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    halves<<<1, 1, 0, stream>>>(out, first + n / 2, n - n / 2);
    cudaStreamDestroy(stream);
}

int main() {
    const int n = 100;
    int *out, sum = 0, wrong = 0;
    cudaMallocManaged(&out, n * sizeof *out);
    for (int i = 0; i < n; i++) out[i] = i;
    halves<<<1, 1>>>(out, 0, n);
    cudaError_t e = cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) sum += out[i], wrong += out[i] != i + 1;
    printf("%s, %d, %d wrong\n", cudaGetErrorString(e), sum, wrong);
    cudaFree(out);
    return wrong;
}

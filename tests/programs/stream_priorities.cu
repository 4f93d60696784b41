// Shows: streams with priorities.
#include <cstdio>

__global__ void add(int *x, int v) { atomicAdd(x, v); }

int main() {
    int least, greatest, p;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    printf("greatest is %s least\n", greatest < least ? "below" : "not below");
    cudaStream_t high, low;
    cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest);
    cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least);
    cudaStreamGetPriority(high, &p);
    printf("%s ", p == greatest ? "high" : "wrong");
    cudaStreamGetPriority(low, &p);
    printf("%s\n", p == least ? "low" : "wrong");
    int *x, h;
    cudaMalloc(&x, sizeof h);
    cudaMemset(x, 0, sizeof h);
    cudaDeviceSynchronize();
    for (int i = 0; i < 10; i++) add<<<2, 32, 0, i % 2 ? high : low>>>(x, i);
    cudaDeviceSynchronize();
    cudaMemcpy(&h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaStreamDestroy(high);
    cudaStreamDestroy(low);
    cudaFree(x);
}

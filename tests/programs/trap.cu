// Shows: a kernel that traps: the launch succeeds, and the error comes with the next synchronisation.
#include <cstdio>

__global__ void check_positive(const int *x, int n) {
    int i = threadIdx.x;
    if (i < n && x[i] < 0) __trap();
}

int main() {
    int h[4] = {1, 2, 3, 4}, *x;
    cudaMalloc(&x, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    check_positive<<<1, 32>>>(x, 4);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    h[2] = -3;
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    check_positive<<<1, 32>>>(x, 4);
    printf("%s, ", cudaGetErrorName(cudaGetLastError()));
    cudaError_t status = cudaDeviceSynchronize();
    printf("%s\n", status == cudaErrorLaunchFailure || status == cudaErrorIllegalInstruction ? "trapped" : cudaGetErrorName(status));
    status = cudaMalloc(&x, 4);
    printf("afterwards: %s\n", status == cudaSuccess ? "works" : "still failed");
    return 0;
}

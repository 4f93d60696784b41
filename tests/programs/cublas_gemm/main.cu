// Shows: cuBLAS: Sgemm in column-major order, and the vector operations of courses, next to a kernel.
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>
#include "cublas_v2.h"

#define IDX2C(i, j, ld) (((j) * (ld)) + (i))
#define CUBLAS_CHECK(x) do { cublasStatus_t s = (x); if (s != CUBLAS_STATUS_SUCCESS) { printf("line %d: %d\n", __LINE__, (int)s); exit(1); } } while (0)

__global__ void fill(float *x, int n, int modulus) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (float)(i % modulus - modulus / 2);
}

int main(void) {
    const int m = 30, n = 20, k = 25;
    float *A, *B, *C, h[m * n], alpha = 2.0f, beta = 0.0f;
    cudaMallocManaged(&A, m * k * sizeof(float));
    cudaMallocManaged(&B, k * n * sizeof(float));
    cudaMalloc((void **)&C, m * n * sizeof(float));
    fill<<<4, 256>>>(A, m * k, 7);
    fill<<<4, 256>>>(B, k * n, 5);
    cublasHandle_t handle;
    CUBLAS_CHECK(cublasCreate(&handle));
    CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A, m, B, k, &beta, C, m));
    CUBLAS_CHECK(cublasGetMatrix(m, n, sizeof(float), C, m, h, m));
    int wrong = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int e = 0; e < k; e++) s += A[IDX2C(i, e, m)] * B[IDX2C(e, j, k)];
            wrong += h[IDX2C(i, j, m)] != alpha * s;
        }
    printf("gemm: %g %g, %d wrong\n", h[0], h[m * n - 1], wrong);
    float dot, norm, sum;
    int largest;
    CUBLAS_CHECK(cublasSdot(handle, 500, A, 1, A, 1, &dot));
    CUBLAS_CHECK(cublasSaxpy(handle, 100, &alpha, A, 1, A + 100, 2));
    CUBLAS_CHECK(cublasSscal(handle, 10, &alpha, A, 1));
    CUBLAS_CHECK(cublasSasum(handle, 10, A, 1, &sum));
    CUBLAS_CHECK(cublasIsamax(handle, 10, A, 1, &largest));
    CUBLAS_CHECK(cublasSnrm2(handle, 10, A, 1, &norm));
    cudaDeviceSynchronize();
    printf("dot %g, sum %g, largest %d, norm %.4f, axpy %g %g\n", dot, sum, largest, norm, A[104], A[105]);
    CUBLAS_CHECK(cublasDestroy(handle));
    cudaFree(A), cudaFree(B), cudaFree(C);
    return 0;
}

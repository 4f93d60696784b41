// Shows: the naive matrix product with a struct of sizes, and a reference on the host.
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int width;
    int height;
    float *elements;
} Matrix;

#define BLOCK_SIZE 16

__global__ void MatMulKernel(const Matrix, const Matrix, Matrix);

void MatMul(const Matrix A, const Matrix B, Matrix C)
{
    Matrix d_A; d_A.width = A.width; d_A.height = A.height;
    size_t size = A.width * A.height * sizeof(float);
    cudaMalloc(&d_A.elements, size);
    cudaMemcpy(d_A.elements, A.elements, size, cudaMemcpyHostToDevice);
    Matrix d_B; d_B.width = B.width; d_B.height = B.height;
    size = B.width * B.height * sizeof(float);
    cudaMalloc(&d_B.elements, size);
    cudaMemcpy(d_B.elements, B.elements, size, cudaMemcpyHostToDevice);
    Matrix d_C; d_C.width = C.width; d_C.height = C.height;
    size = C.width * C.height * sizeof(float);
    cudaMalloc(&d_C.elements, size);

    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
    dim3 dimGrid((B.width + dimBlock.x - 1) / dimBlock.x, (A.height + dimBlock.y - 1) / dimBlock.y);
    MatMulKernel<<<dimGrid, dimBlock>>>(d_A, d_B, d_C);
    cudaMemcpy(C.elements, d_C.elements, size, cudaMemcpyDeviceToHost);
    cudaFree(d_A.elements); cudaFree(d_B.elements); cudaFree(d_C.elements);
}

__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C)
{
    float Cvalue = 0;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= A.height || col >= B.width) return;
    for (int e = 0; e < A.width; ++e)
        Cvalue += A.elements[row * A.width + e] * B.elements[e * B.width + col];
    C.elements[row * C.width + col] = Cvalue;
}

int main(int argc, char *argv[])
{
    int m = 50, k = 33, n = 70, wrong = 0;
    Matrix A = {k, m, (float *)malloc(m * k * 4)}, B = {n, k, (float *)malloc(k * n * 4)}, C = {n, m, (float *)malloc(m * n * 4)};
    for (int i = 0; i < m * k; i++) A.elements[i] = (float)(i % 9 - 4);
    for (int i = 0; i < k * n; i++) B.elements[i] = (float)(i % 7 - 3);
    MatMul(A, B, C);
    for (int r = 0; r < m; r++)
        for (int c = 0; c < n; c++) {
            float s = 0;
            for (int e = 0; e < k; e++) s += A.elements[r * k + e] * B.elements[e * n + c];
            wrong += s != C.elements[r * n + c];
        }
    printf("C[0][0] = %.1f, C[%d][%d] = %.1f, wrong: %d\n", C.elements[0], m - 1, n - 1, C.elements[m * n - 1], wrong);
    free(A.elements); free(B.elements); free(C.elements);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

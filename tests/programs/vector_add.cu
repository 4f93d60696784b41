// Shows: the textbook's first program: two vectors are added, with an error check after each call.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

__global__ void vectorAdd(const float *A, const float *B, float *C, int numElements) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < numElements) {
        C[i] = A[i] + B[i];
    }
}

static void check(cudaError_t err, const char *what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "Failed to %s (error code %s)!\n", what, cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}

int main(void) {
    int numElements = 50000;
    size_t size = numElements * sizeof(float);
    printf("[Vector addition of %d elements]\n", numElements);

    float *h_A = (float *)malloc(size);
    float *h_B = (float *)malloc(size);
    float *h_C = (float *)malloc(size);
    for (int i = 0; i < numElements; ++i) {
        h_A[i] = rand() / (float)RAND_MAX;
        h_B[i] = rand() / (float)RAND_MAX;
    }

    float *d_A = NULL, *d_B = NULL, *d_C = NULL;
    check(cudaMalloc((void **)&d_A, size), "allocate device vector A");
    check(cudaMalloc((void **)&d_B, size), "allocate device vector B");
    check(cudaMalloc((void **)&d_C, size), "allocate device vector C");
    check(cudaMemcpy(d_A, h_A, size, cudaMemcpyHostToDevice), "copy A");
    check(cudaMemcpy(d_B, h_B, size, cudaMemcpyHostToDevice), "copy B");

    int threadsPerBlock = 256;
    int blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
    printf("CUDA kernel launch with %d blocks of %d threads\n", blocksPerGrid, threadsPerBlock);
    vectorAdd<<<blocksPerGrid, threadsPerBlock>>>(d_A, d_B, d_C, numElements);
    check(cudaGetLastError(), "launch vectorAdd");

    check(cudaMemcpy(h_C, d_C, size, cudaMemcpyDeviceToHost), "copy C");
    for (int i = 0; i < numElements; ++i) {
        if (fabs(h_A[i] + h_B[i] - h_C[i]) > 1e-5) {
            fprintf(stderr, "Result verification failed at element %d!\n", i);
            exit(EXIT_FAILURE);
        }
    }
    printf("Test PASSED\n");

    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    free(h_A);
    free(h_B);
    free(h_C);
    printf("Done\n");
    return 0;
}

#pragma once
#include <cuda_runtime.h>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define cudaCheck(err) (cudaCheck(err, __FILE__, __LINE__))

void (cudaCheck)(cudaError_t error, const char *file, int line);
void run_kernel(int kernel_num, int M, int N, int K, float alpha, float *A, float *B, float beta, float *C);

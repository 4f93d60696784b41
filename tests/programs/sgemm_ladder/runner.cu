#include "kernels/1_naive.cuh"
#include "kernels/2_shared_mem_block.cuh"
#include "kernels/3_blocktiling.cuh"
#include "kernels/4_vectorize.cuh"
#include "runner.cuh"
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

void (cudaCheck)(cudaError_t error, const char *file, int line) {
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
}

void run_sgemm_blocktiling(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  const uint BK = 8, TM = 8, TN = 8, BM = 64, BN = 64;
  dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemmBlocktiling<BM, BN, BK, TM, TN>
      <<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
}

void run_kernel(int kernel_num, int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  switch (kernel_num) {
  case 1: {
    dim3 gridDim(CEIL_DIV(M, 32), CEIL_DIV(N, 32));
    dim3 blockDim(32, 32);
    sgemm_naive<<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
    break;
  }
  case 2:
    cudaFuncSetAttribute(sgemm_shared_mem_block<32>, cudaFuncAttributePreferredSharedMemoryCarveout,
                         cudaSharedmemCarveoutMaxShared);
    sgemm_shared_mem_block<32><<<dim3(CEIL_DIV(M, 32), CEIL_DIV(N, 32)), dim3(32 * 32)>>>(M, N, K, alpha, A, B, beta, C);
    break;
  case 3:
    run_sgemm_blocktiling(M, N, K, alpha, A, B, beta, C);
    break;
  case 4:
    vectorize::sgemm<64, 64, 16><<<dim3(N / 64, M / 64), 256>>>(M, N, K, alpha, A, B, beta, C);
    break;
  default:
    throw std::invalid_argument("Unknown kernel number");
  }
}

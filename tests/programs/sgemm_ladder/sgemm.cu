// Shows: a ladder of matrix products as public repositories have it: a runner that chooses, one header per kernel.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "runner.cuh"

int main() {
  const int sizes[] = {128, 256};
  for (int size : sizes) {
    const int M = size, N = size, K = size;
    std::vector<float> A(M * K), B(K * N), C(M * N), ref(M * N);
    for (int i = 0; i < M * K; i++) A[i] = float(i % 5 - 2);
    for (int i = 0; i < K * N; i++) B[i] = float(i % 3 - 1);
    for (int i = 0; i < M; i++)
      for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) ref[i * N + j] += A[i * K + k] * B[k * N + j];
    float *dA = nullptr, *dB = nullptr, *dC = nullptr;
    cudaCheck(cudaMalloc((void **)&dA, sizeof(float) * M * K));
    cudaCheck(cudaMalloc((void **)&dB, sizeof(float) * K * N));
    cudaCheck(cudaMalloc((void **)&dC, sizeof(float) * M * N));
    cudaCheck(cudaMemcpy(dA, A.data(), sizeof(float) * M * K, cudaMemcpyHostToDevice));
    cudaCheck(cudaMemcpy(dB, B.data(), sizeof(float) * K * N, cudaMemcpyHostToDevice));
    for (int kernel_num = 1; kernel_num <= 4; kernel_num++) {
      cudaCheck(cudaMemset(dC, 0, sizeof(float) * M * N));
      run_kernel(kernel_num, M, N, K, 2.0f, dA, dB, 0.0f, dC);
      cudaCheck(cudaDeviceSynchronize());
      cudaCheck(cudaGetLastError());
      cudaCheck(cudaMemcpy(C.data(), dC, sizeof(float) * M * N, cudaMemcpyDeviceToHost));
      int wrong = 0;
      for (int i = 0; i < M * N; i++) wrong += C[i] != 2.0f * ref[i];
      printf("size %d, kernel %d: %d wrong\n", size, kernel_num, wrong);
    }
    cudaFree(dA), cudaFree(dB), cudaFree(dC);
  }
}

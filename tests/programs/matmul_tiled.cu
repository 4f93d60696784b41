// Shows: the tiled matrix product with boundary checks.
#include <iostream>
#include <vector>
#define TILE_WIDTH 16
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
   if (code != cudaSuccess)
   {
      fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
      if (abort) exit(code);
   }
}

// Compute C = A * B
__global__ void matrixMultiplyShared(float *A, float *B, float *C, int numARows, int numAColumns, int numBColumns)
{
  __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
  __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y,
      Row = by * TILE_WIDTH + ty, Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
    if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
      ds_A[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
    else
      ds_A[ty][tx] = 0;
    if (Col < numBColumns && m * TILE_WIDTH + ty < numAColumns)
      ds_B[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
    else
      ds_B[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k)
      Pvalue += ds_A[ty][k] * ds_B[k][tx];
    __syncthreads();
  }
  if (Row < numARows && Col < numBColumns)
    C[Row * numBColumns + Col] = Pvalue;
}

int main()
{
  const int m = 100, k = 75, n = 60;
  std::vector<float> A(m * k), B(k * n), C(m * n), R(m * n, 0.f);
  for (size_t i = 0; i < A.size(); i++) A[i] = float(i * 3 % 11) - 5;
  for (size_t i = 0; i < B.size(); i++) B[i] = float(i * 5 % 13) - 6;
  float *dA, *dB, *dC;
  gpuErrchk(cudaMalloc(&dA, A.size() * sizeof(float)));
  gpuErrchk(cudaMalloc(&dB, B.size() * sizeof(float)));
  gpuErrchk(cudaMalloc(&dC, C.size() * sizeof(float)));
  gpuErrchk(cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice));
  gpuErrchk(cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice));
  matrixMultiplyShared<<<dim3((n - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1, 1), dim3(TILE_WIDTH, TILE_WIDTH, 1)>>>(
      dA, dB, dC, m, k, n);
  gpuErrchk(cudaPeekAtLastError());
  gpuErrchk(cudaDeviceSynchronize());
  gpuErrchk(cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < m; i++)
    for (int e = 0; e < k; e++)
      for (int j = 0; j < n; j++) R[i * n + j] += A[i * k + e] * B[e * n + j];
  std::cout << C.front() << " " << C.back() << ": " << (C == R ? "equal" : "different") << std::endl;
  gpuErrchk(cudaFree(dA)); gpuErrchk(cudaFree(dB)); gpuErrchk(cudaFree(dC));
  return C == R ? 0 : 1;
}

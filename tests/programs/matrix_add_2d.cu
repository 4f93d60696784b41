// Shows: a grid and blocks of two dimensions, given as dim3 variables.
#include <iostream>
#include <cuda_runtime.h>
using namespace std;

const int ROWS = 100;
const int COLS = 60;

__global__ void MatAdd(int *A, int *B, int *C)
{
  int col = threadIdx.x + blockIdx.x * blockDim.x;
  int row = threadIdx.y + blockIdx.y * blockDim.y;
  int index = col + row * COLS;
  if (col < COLS && row < ROWS)
  {
    C[index] = A[index] + B[index];
  }
}

int main()
{
  static int A[ROWS][COLS], B[ROWS][COLS], C[ROWS][COLS];
  int *dA, *dB, *dC;
  for (int i = 0; i < ROWS; i++)
  {
    for (int j = 0; j < COLS; j++)
    {
      A[i][j] = i + j;
      B[i][j] = i * j;
    }
  }
  cudaMalloc((void**)&dA, sizeof(A));
  cudaMalloc((void**)&dB, sizeof(B));
  cudaMalloc((void**)&dC, sizeof(C));
  cudaMemcpy(dA, A, sizeof(A), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeof(B), cudaMemcpyHostToDevice);

  dim3 dimBlock(16, 16);
  dim3 dimGrid((COLS + dimBlock.x - 1) / dimBlock.x, (ROWS + dimBlock.y - 1) / dimBlock.y);
  MatAdd <<< dimGrid, dimBlock >>> (dA, dB, dC);

  cudaMemcpy(C, dC, sizeof(C), cudaMemcpyDeviceToHost);
  bool good = true;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++)
      if (C[i][j] != i + j + i * j) good = false;
  cout << "grid " << dimGrid.x << " x " << dimGrid.y << ", corner " << C[ROWS - 1][COLS - 1] << endl;
  cout << (good ? "success" : "failure") << endl;
  cudaFree(dA); cudaFree(dB); cudaFree(dC);
  return good ? 0 : 1;
}

// Shows: a matrix transpose through a tile in shared memory with one column of padding.
#include <stdio.h>
#include <assert.h>

const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;

__global__ void transposeNaive(float *odata, const float *idata, int width, int height)
{
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j+= BLOCK_ROWS)
    if (x < width && y + j < height) odata[x*height + (y+j)] = idata[(y+j)*width + x];
}

__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height)
{
  __shared__ float tile[TILE_DIM][TILE_DIM+1];

  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < width && y + j < height) tile[threadIdx.y+j][threadIdx.x] = idata[(y+j)*width + x];

  __syncthreads();

  x = blockIdx.y * TILE_DIM + threadIdx.x;  // transpose block offset
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < height && y + j < width) odata[(y+j)*height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char **argv)
{
  const int nx = 150, ny = 97;
  static float h_idata[nx*ny], h_tdata[nx*ny];
  dim3 dimGrid((nx + TILE_DIM - 1)/TILE_DIM, (ny + TILE_DIM - 1)/TILE_DIM, 1);
  dim3 dimBlock(TILE_DIM, BLOCK_ROWS, 1);
  float *d_idata, *d_tdata;
  cudaMalloc(&d_idata, sizeof(h_idata));
  cudaMalloc(&d_tdata, sizeof(h_tdata));
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++)
      h_idata[j*nx + i] = j*nx + i;
  cudaMemcpy(d_idata, h_idata, sizeof(h_idata), cudaMemcpyHostToDevice);
  for (int k = 0; k < 2; k++) {
    cudaMemset(d_tdata, 0, sizeof(h_tdata));
    if (k == 0)
      transposeNaive<<<dimGrid, dimBlock>>>(d_tdata, d_idata, nx, ny);
    else
      transposeNoBankConflicts<<<dimGrid, dimBlock>>>(d_tdata, d_idata, nx, ny);
    cudaMemcpy(h_tdata, d_tdata, sizeof(h_tdata), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++) wrong += h_tdata[i*ny + j] != h_idata[j*nx + i];
    printf("%25s%10d wrong\n", k ? "conflict-free transpose" : "naive transpose", wrong);
    assert(wrong == 0);
  }
  cudaFree(d_tdata);
  cudaFree(d_idata);
  return argc < 0 || argv == nullptr;
}

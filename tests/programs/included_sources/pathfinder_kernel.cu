#ifndef _PATHFINDER_KERNEL_
#define _PATHFINDER_KERNEL_

#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))

__global__ void dynproc_kernel(int *gpuWall, int *gpuSrc, int *gpuResults, int cols) {
  __shared__ int prev[BLOCK_SIZE + 2];
  int tx = threadIdx.x;
  int xidx = BLOCK_SIZE * blockIdx.x + tx;
  const int far = 1 << 30;
  if (IN_RANGE(xidx, 0, cols - 1)) prev[tx + 1] = gpuSrc[xidx];
  else prev[tx + 1] = far;
  if (tx == 0) prev[0] = xidx > 0 ? gpuSrc[xidx - 1] : far;
  if (tx == BLOCK_SIZE - 1) prev[BLOCK_SIZE + 1] = xidx + 1 < cols ? gpuSrc[xidx + 1] : far;
  __syncthreads();
  if (IN_RANGE(xidx, 0, cols - 1)) {
    int shortest = MIN(prev[tx], prev[tx + 1]);
    shortest = MIN(shortest, prev[tx + 2]);
    gpuResults[xidx] = shortest + gpuWall[xidx];
  }
}

#endif // #ifndef _PATHFINDER_KERNEL_

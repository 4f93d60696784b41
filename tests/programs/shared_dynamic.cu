// Shows: dynamic shared memory whose size the launch gives.
#include <stdio.h>
#include <assert.h>

extern __shared__ int at_file_scope[];

__global__ void dynamicReverse(int *d, int n)
{
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[n-t-1];
}

__device__ int neighbour(int t, int n) { return at_file_scope[(t + 1) % n]; }

__global__ void rotate(int *d, int n)
{
  int t = threadIdx.x;
  at_file_scope[t] = d[t];
  __syncthreads();
  d[t] = neighbour(t, n);
}

int main(void)
{
  int n = 100, h[128];
  for (int i = 0; i < n; i++) h[i] = i * i;
  int *d;
  cudaMalloc(&d, n * sizeof(int));
  cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
  dynamicReverse<<<1, n, n * sizeof(int)>>>(d, n);
  rotate<<<1, n, n * sizeof(int)>>>(d, n);
  rotate<<<1, n, sizeof(int) * (size_t)n>>>(d, n);
  cudaMemcpy(h, d, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    int k = n - 1 - (i + 2) % n;
    if (h[i] != k * k) { printf("wrong at %d: %d\n", i, h[i]); return 1; }
  }
  printf("%d %d %d\n", h[0], h[1], h[n - 1]);
  cudaFree(d);
  return 0;
}

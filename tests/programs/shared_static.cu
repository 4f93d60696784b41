// Shows: static shared memory: the textbook's array reversal and a block's sum.
#include <stdio.h>

__global__ void staticReverse(int *d, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  int tr = n-t-1;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[tr];
}

__global__ void blockTotals(const int *d, int *totals)
{
  __shared__ int total, rows[2][4][8];
  __shared__ struct { int first; short second[3]; } both;
  int t = threadIdx.x;
  if (t == 0) { total = 0; both.first = 0; both.second[2] = 1; }
  rows[t / 32][t / 8 % 4][t % 8] = d[t];
  __syncthreads();
  atomicAdd(&total, rows[(63 - t) / 32][(63 - t) / 8 % 4][(63 - t) % 8]);
  atomicMax(&both.first, d[t] * both.second[2]);
  __syncthreads();
  if (t == 0) { totals[2 * blockIdx.x] = total; totals[2 * blockIdx.x + 1] = both.first + blockIdx.x; }
}

int main(void)
{
  const int n = 64;
  int a[n], r[n], d[n], totals[6];

  for (int i = 0; i < n; i++) {
    a[i] = i;
    r[i] = n-i-1;
    d[i] = 0;
  }

  int *d_d, *d_totals;
  cudaMalloc(&d_d, n * sizeof(int));
  cudaMalloc(&d_totals, sizeof(totals));
  cudaMemcpy(d_d, a, n*sizeof(int), cudaMemcpyHostToDevice);
  staticReverse<<<1,n>>>(d_d, n);
  blockTotals<<<3,n>>>(d_d, d_totals);
  cudaMemcpy(d, d_d, n*sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(totals, d_totals, sizeof(totals), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (d[i] != r[i]) printf("Error: d[%d]!=r[%d] (%d, %d)\n", i, i, d[i], r[i]);
  for (int b = 0; b < 3; b++) printf("block %d: %d %d\n", b, totals[2*b], totals[2*b+1]);
  cudaFree(d_d);
  cudaFree(d_totals);
  return 0;
}

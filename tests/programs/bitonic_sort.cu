// Shows: bitonic sort: one launch per step over all elements.
#include <stdlib.h>
#include <stdio.h>

#define THREADS 128
#define BLOCKS 32
#define NUM_VALS THREADS*BLOCKS

__global__ void bitonic_sort_step(float *dev_values, int j, int k)
{
  unsigned int i, ixj; /* Sorting partners: i and ixj */
  i = threadIdx.x + blockDim.x * blockIdx.x;
  ixj = i^j;

  /* The threads with the lowest ids sort the array. */
  if ((ixj)>i) {
    if ((i&k)==0) {
      if (dev_values[i]>dev_values[ixj]) {
        float temp = dev_values[i];
        dev_values[i] = dev_values[ixj];
        dev_values[ixj] = temp;
      }
    }
    if ((i&k)!=0) {
      if (dev_values[i]<dev_values[ixj]) {
        float temp = dev_values[i];
        dev_values[i] = dev_values[ixj];
        dev_values[ixj] = temp;
      }
    }
  }
}

void bitonic_sort(float *values)
{
  float *dev_values;
  size_t size = NUM_VALS * sizeof(float);
  cudaMalloc((void**) &dev_values, size);
  cudaMemcpy(dev_values, values, size, cudaMemcpyHostToDevice);
  dim3 blocks(BLOCKS,1);    /* Number of blocks   */
  dim3 threads(THREADS,1);  /* Number of threads  */
  int j, k;
  /* Major step */
  for (k = 2; k <= NUM_VALS; k <<= 1) {
    /* Minor step */
    for (j=k>>1; j>0; j=j>>1) {
      bitonic_sort_step<<<blocks, threads>>>(dev_values, j, k);
    }
  }
  cudaMemcpy(values, dev_values, size, cudaMemcpyDeviceToHost);
  cudaFree(dev_values);
}

int main(void)
{
  float *values = (float*) malloc( NUM_VALS * sizeof(float));
  unsigned long seed = 42;
  double before = 0, after = 0;
  for (int i = 0; i < NUM_VALS; i++) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    before += values[i] = (float)(seed >> 44);
  }
  bitonic_sort(values);
  int sorted = 1;
  for (int i = 0; i < NUM_VALS; i++) { after += values[i]; sorted &= i == 0 || values[i - 1] <= values[i]; }
  printf("%s, sums %s\n", sorted ? "sorted" : "not sorted", before == after ? "equal" : "differ");
  free(values);
  return !sorted;
}

// Shows: copies and kernels of pieces in several streams, by loop order and by depth.
#include <cstdio>
#include <cassert>
#include <cmath>

inline cudaError_t checkCuda(cudaError_t result)
{
  if (result != cudaSuccess) {
    fprintf(stderr, "CUDA Runtime Error: %s\n", cudaGetErrorString(result));
    assert(result == cudaSuccess);
  }
  return result;
}

__global__ void kernel(float *a, int offset)
{
  int i = offset + threadIdx.x + blockIdx.x*blockDim.x;
  float x = (float)i;
  float s = sinf(x);
  float c = cosf(x);
  a[i] = a[i] + sqrtf(s*s+c*c);
}

float maxError(float *a, int n)
{
  float maxE = 0;
  for (int i = 0; i < n; i++) {
    float error = fabs(a[i]-1.0f);
    if (error > maxE) maxE = error;
  }
  return maxE;
}

int main()
{
  const int blockSize = 256, nStreams = 4;
  const int n = 16 * blockSize * nStreams;
  const int streamSize = n / nStreams;
  const int streamBytes = streamSize * sizeof(float);
  const int bytes = n * sizeof(float);
  float *a, *d_a;
  checkCuda( cudaMallocHost((void**)&a, bytes) );
  checkCuda( cudaMalloc((void**)&d_a, bytes) );
  cudaStream_t stream[nStreams];
  for (int i = 0; i < nStreams; ++i) checkCuda( cudaStreamCreate(&stream[i]) );
  for (int way = 0; way < 2; way++) {
    for (int i = 0; i < n; i++) a[i] = 0;
    for (int step = 0; step < 3 * nStreams; step++) {
      int i = way ? step % nStreams : step / 3, what = way ? step / nStreams : step % 3;
      int offset = i * streamSize;
      if (what == 0)
        checkCuda( cudaMemcpyAsync(&d_a[offset], &a[offset], streamBytes, cudaMemcpyHostToDevice, stream[i]) );
      else if (what == 1)
        kernel<<<streamSize/blockSize, blockSize, 0, stream[i]>>>(d_a, offset);
      else
        checkCuda( cudaMemcpyAsync(&a[offset], &d_a[offset], streamBytes, cudaMemcpyDeviceToHost, stream[i]) );
    }
    checkCuda( cudaDeviceSynchronize() );
    printf("way %d: max error %s\n", way, maxError(a, n) < 1e-5f ? "small" : "large");
  }
  for (int i = 0; i < nStreams; ++i) checkCuda( cudaStreamDestroy(stream[i]) );
  cudaFree(d_a);
  cudaFreeHost(a);
  return 0;
}

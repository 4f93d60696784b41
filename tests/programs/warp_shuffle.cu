// Shows: the four warp shuffles, with widths and several types, and the textbook's warp reduction.
#include <cstdio>

#define FULL_MASK 0xffffffff

__inline__ __device__ int warpReduceSum(int val) {
  for (int offset = warpSize/2; offset > 0; offset /= 2)
    val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}

__inline__ __device__ int blockReduceSum(int val) {
  static __shared__ int shared[32];
  int lane = threadIdx.x % warpSize;
  int wid = threadIdx.x / warpSize;
  val = warpReduceSum(val);
  if (lane==0) shared[wid]=val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
  if (wid==0) val = warpReduceSum(val);
  return val;
}

__global__ void deviceReduceKernel(int *in, int* out, int N) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x)
    sum += in[i];
  sum = blockReduceSum(sum);
  if (threadIdx.x==0)
    out[blockIdx.x]=sum;
}

__global__ void kinds(double *out) {
  int lane = threadIdx.x;
  int broadcast = __shfl_sync(FULL_MASK, lane * lane, 7);
  int rotated = __shfl_sync(FULL_MASK, lane, lane + 5, 8);
  float up = __shfl_up_sync(FULL_MASK, lane + 0.5f, 3);
  double down = __shfl_down_sync(FULL_MASK, lane * 0.25, 2, 16);
  long long crossed = __shfl_xor_sync(FULL_MASK, (long long)lane << 33, 31);
  unsigned part = lane < 8 ? __shfl_xor_sync(0xff, lane, 1) : 0u;
  out[lane] = broadcast + rotated * 100 + up + down + (double)(crossed >> 33) * 1000 + part * 0.125;
}

int main() {
  const int N = 10000, blocks = 8;
  int *in, *out, expected = 0;
  double *values;
  cudaMallocManaged(&in, N * sizeof(int));
  cudaMallocManaged(&out, blocks * sizeof(int));
  cudaMallocManaged(&values, 32 * sizeof(double));
  for (int i = 0; i < N; i++) expected += in[i] = i % 13;
  deviceReduceKernel<<<blocks, 256>>>(in, out, N);
  deviceReduceKernel<<<1, 32>>>(out, out, blocks);
  kinds<<<1, 32>>>(values);
  cudaDeviceSynchronize();
  printf("%d %d\n", out[0], expected);
  for (int i = 0; i < 32; i++) printf("%g%c", values[i], i % 8 == 7 ? '\n' : ' ');
  cudaFree(in); cudaFree(out); cudaFree(values);
  return out == nullptr;
}

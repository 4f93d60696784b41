// Shows: sums and maxima of blocks by functions that shuffle and wait, some of them called by the first warp alone.
#include <cstdio>
#define FULL_MASK 0xffffffff
#define WARP_SIZE 32

__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(FULL_MASK, val, offset);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % WARP_SIZE;
    int wid = threadIdx.x / WARP_SIZE;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / WARP_SIZE) ? shared[lane] : 0;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

__global__ void deviceReduceKernel(const float *in, float *out, int N) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x) sum += in[i];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <typename T> __device__ T warp_max(T v) {
    for (int o = 16; o > 0; o >>= 1) {
        T w = __shfl_xor_sync(FULL_MASK, v, o);
        v = w > v ? w : v;
    }
    return v;
}

template <typename T> __global__ void maxima(const T *x, T *y) {
    int t = threadIdx.x;
    T m = warp_max(x[t]);
    if (t < 32) m += warp_max(t);
    else if (t / 32 == 1) m -= warp_max(t - m);
    y[t] = m + warp_max(t + 1) + __popc(__ballot_sync(FULL_MASK, x[t] > 9));
}

__device__ void add(int *s, int v) {
    s[threadIdx.x] += v;
    __syncthreads();
    int first = s[0];
    __syncthreads();
    s[threadIdx.x] += first;
    __syncthreads();
}

__global__ void twice(int *y) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    add(s, 5);
    if (blockDim.x == 64) add(s, 7);
    y[threadIdx.x] = s[threadIdx.x];
}

int main() {
    float *x, *y; int *k;
    cudaMallocManaged(&x, 4096), cudaMallocManaged(&y, 4096), cudaMallocManaged(&k, 4096);
    for (int i = 0; i < 1024; ++i) x[i] = i * 7 % 17 + i / 32;
    deviceReduceKernel<<<4, 256>>>(x, y, 1000), maxima<<<1, 96>>>(x, y + 4), twice<<<1, 64>>>(k);
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; ++i) printf("%g %g %g %g %d %d\n", y[i], y[4 + i], y[40 + i], y[70 + i], k[i], k[60 + i]);
}

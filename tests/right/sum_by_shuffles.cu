// A sum: shuffles within each warp, one word of shared memory per warp, and shuffles again.
//> x = ck.asarray(ints(5000)); y = ck.zeros(1, "i4"); kernel[7, 192](x, y, 5000)
//= assert y[0].get() == x.get().sum()
__device__ int sum_of_warp(int value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void right(const int *x, int *y, int n) {
    __shared__ int partial[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize, value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
    value = sum_of_warp(value);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / warpSize ? partial[lane] : 0;
    if (warp == 0) value = sum_of_warp(value);
    if (threadIdx.x == 0) atomicAdd(y, value);
}

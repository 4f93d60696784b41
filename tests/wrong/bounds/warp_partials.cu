// There is room for the sums of 8 warps, but a block of 512 threads has 16.
//> x = ck.asarray(ints(512)); total = ck.empty(1, "i4"); kernel[1, 512](x, total)
//= assert total.get() == x.get().sum()
__device__ int warp_sum(int value) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    return value;
}

__global__ void wrong(const int *x, int *total) {
    __shared__ int partial[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = warp_sum(x[threadIdx.x]);
    if (lane == 0) partial[warp] = sum; //! bounds partial[8]
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < 8 ? partial[lane] : 0);
        if (lane == 0) *total = sum;
    }
}

__global__ void right(const int *x, int *total) {
    __shared__ int partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = warp_sum(x[threadIdx.x]);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0);
        if (lane == 0) *total = sum;
    }
}

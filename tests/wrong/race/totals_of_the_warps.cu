// The first lanes add up the totals of all warps right after their own warp has written its total.
//> x = ck.asarray(ints(128)); y = ck.empty(1, "i4"); kernel[1, 128](x, y)
//= assert y[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *y) {
    __shared__ int totals[4];
    int t = threadIdx.x, sum = x[t];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
    if (t % 32 == 0) totals[t / 32] = sum; //! race
    __syncwarp();
    if (t == 0) *y = totals[0] + totals[1] + totals[2] + totals[3]; //! race
}

__global__ void right(const int *x, int *y) {
    __shared__ int totals[4];
    int t = threadIdx.x, sum = x[t];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
    if (t % 32 == 0) totals[t / 32] = sum;
    __syncthreads();
    if (t == 0) *y = totals[0] + totals[1] + totals[2] + totals[3];
}

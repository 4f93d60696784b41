// The lower half of a warp adds up. In the first step, lanes 8 to 15 read from lanes 16 to 23, which the mask does
// not name.
//> x = ck.asarray(ints(32)); y = ck.zeros(1, "i4"); kernel[1, 32](x, y)
//= assert y[0].get() == x.get()[:16].sum()
__global__ void wrong(const int *x, int *y) {
    int lane = threadIdx.x, sum = x[lane];
    if (lane < 16) {
        for (int d = 8; d > 0; d /= 2) sum += __shfl_down_sync(0x0000ffff, sum, d); //! warp
        if (lane == 0) *y = sum;
    }
}

__global__ void right(const int *x, int *y) {
    int lane = threadIdx.x, sum = x[lane];
    if (lane < 16) {
        for (int d = 8; d > 0; d /= 2) sum += __shfl_down_sync(0x0000ffff, sum, d, 16);
        if (lane == 0) *y = sum;
    }
}

// Two halves of a warp wait for each other with different masks, so one of them waits for lanes that never come.
//> x = ck.asarray(ints(32)); y = ck.empty(32, "i4"); kernel[1, 32](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[np.arange(32) ^ 16])
__global__ void wrong(const int *x, int *y) {
    __shared__ int tile[32];
    int lane = threadIdx.x;
    tile[lane] = x[lane];
    if (lane < 16)
        __syncwarp(0xffffffff); //! warp
    else
        __syncwarp(0xffff0000); //! warp
    __syncthreads();
    y[lane] = tile[lane ^ 16];
}

__global__ void right(const int *x, int *y) {
    __shared__ int tile[32];
    int lane = threadIdx.x;
    tile[lane] = x[lane];
    __syncwarp();
    y[lane] = tile[lane ^ 16];
}

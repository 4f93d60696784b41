// __syncwarp() waits for the own warp, but the elements that a thread reads come from another one.
//> x = ck.asarray(ints(128)); y = ck.empty(128, "i4"); kernel[1, 128](x, y)
//= np.testing.assert_array_equal(y.get(), np.roll(x.get(), 64))
__global__ void wrong(const int *x, int *y) {
    __shared__ int tile[128];
    tile[threadIdx.x] = x[threadIdx.x];              //! race
    __syncwarp();                                    //! scope
    y[threadIdx.x] = tile[(threadIdx.x + 64) % 128]; //! race
}

__global__ void right(const int *x, int *y) {
    __shared__ int tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[(threadIdx.x + 64) % 128];
}

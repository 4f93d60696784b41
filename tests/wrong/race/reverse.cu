// A block reverses its elements through shared memory, and does not wait until all of them are there.
//> x = ck.asarray(ints(512)); y = ck.empty(512, "i4"); kernel[2, 256](x, y)
//= np.testing.assert_array_equal(y.get().reshape(2, 256), x.get().reshape(2, 256)[:, ::-1])
__global__ void wrong(const int *x, int *y) {
    __shared__ int tile[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    tile[t] = x[first + t];       //! race
    y[first + t] = tile[255 - t]; //! race
}

__global__ void right(const int *x, int *y) {
    __shared__ int tile[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    tile[t] = x[first + t];
    __syncthreads();
    y[first + t] = tile[255 - t];
}

// One barrier per tile is enough with two buffers that take turns, but here is only one: it is filled again while
// slow threads still read it.
//> x = ck.asarray(ints(64 * 8)); y = ck.empty(64, "i4"); kernel[1, 64](x, y, 8)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(8, 64)[:, ::-1].sum(0))
__global__ void wrong(const int *x, int *y, int tiles) {
    __shared__ int stage[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < tiles; ++k) {
        stage[t] = x[64 * k + t]; //! race
        __syncthreads();
        sum += stage[63 - t]; //! race
    }
    y[t] = sum;
}

__global__ void right(const int *x, int *y, int tiles) {
    __shared__ int stage[2][64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < tiles; ++k) {
        stage[k % 2][t] = x[64 * k + t];
        __syncthreads();
        sum += stage[k % 2][63 - t];
    }
    y[t] = sum;
}

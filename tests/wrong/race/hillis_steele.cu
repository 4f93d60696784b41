// A scan in one buffer: `temp[t] += temp[t - d]` reads what thread t - d is just changing.
//> x = ck.asarray(ints(256)); y = ck.empty(256, "i4"); kernel[1, 256](x, y)
//= np.testing.assert_array_equal(y.get(), np.cumsum(x.get()))
__global__ void wrong(const int *x, int *y) {
    __shared__ int temp[256];
    int t = threadIdx.x;
    temp[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        if (t >= d) temp[t] += temp[t - d]; //! race
        __syncthreads();
    }
    y[t] = temp[t];
}

__global__ void right(const int *x, int *y) {
    __shared__ int temp[2][256];
    int t = threadIdx.x, from = 0;
    temp[0][t] = x[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        temp[1 - from][t] = temp[from][t] + (t >= d ? temp[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    y[t] = temp[from][t];
}

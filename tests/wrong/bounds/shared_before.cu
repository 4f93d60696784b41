// An exclusive sum shifts by one: thread 0 reads the element before the shared array.
//> x = ck.asarray(ints(128)); y = ck.empty(128, "i4")
//> kernel[1, 128](x, y)
//= np.testing.assert_array_equal(y.get(), np.cumsum(x.get()) - x.get())
__global__ void wrong(const int *x, int *y) {
    __shared__ int sums[128];
    int t = threadIdx.x;
    sums[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int add = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += add;
        __syncthreads();
    }
    y[t] = sums[t - 1]; //! bounds sums[-1]
}

__global__ void right(const int *x, int *y) {
    __shared__ int sums[128];
    int t = threadIdx.x;
    sums[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int add = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += add;
        __syncthreads();
    }
    y[t] = t > 0 ? sums[t - 1] : 0;
}

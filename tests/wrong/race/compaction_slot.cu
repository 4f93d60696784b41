// Threads take their places in the output with `count++`: two of them may take the same one.
//> x = ck.asarray(ints(128)); y = ck.zeros(128, "i4"); kernel[1, 128](x, y)
//= h = x.get(); np.testing.assert_array_equal(np.sort(y.get()[: (h > 60).sum()]), np.sort(h[h > 60]))
__global__ void wrong(const int *x, int *y) {
    __shared__ int count, kept[128];
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int value = x[threadIdx.x];
    if (value > 60) {
        int slot = count++; //! race
        kept[slot] = value; //! race
    }
    __syncthreads();
    if (threadIdx.x < count) y[threadIdx.x] = kept[threadIdx.x];
}

__global__ void right(const int *x, int *y) {
    __shared__ int count, kept[128];
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int value = x[threadIdx.x];
    if (value > 60) kept[atomicAdd(&count, 1)] = value;
    __syncthreads();
    if (threadIdx.x < count) y[threadIdx.x] = kept[threadIdx.x];
}

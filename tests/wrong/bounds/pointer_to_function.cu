// A function that gets a pointer to shared memory reads one element more than there is: <= in its loop.
//> x = ck.asarray(ints(256)); y = ck.empty(4, "i4")
//> kernel[4, 64](x, y)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(4, 64).max(1))
__device__ int largest_wrong(const int *values, int count) {
    int best = values[0];
    for (int i = 1; i <= count; ++i) best = max(best, values[i]); //! bounds values[64]
    return best;
}

__device__ int largest(const int *values, int count) {
    int best = values[0];
    for (int i = 1; i < count; ++i) best = max(best, values[i]);
    return best;
}

__global__ void wrong(const int *x, int *y) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = largest_wrong(tile, blockDim.x);
}

__global__ void right(const int *x, int *y) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = largest(tile, blockDim.x);
}

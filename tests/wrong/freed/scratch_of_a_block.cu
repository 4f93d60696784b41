// Thread 0 gets a scratch buffer from the heap for its block, and gives it back one phase too early.
//> x = ck.asarray(ints(128)); y = ck.empty(128, "i4"); kernel[2, 64](x, y)
//= np.testing.assert_array_equal(y.get().reshape(2, 64), x.get().reshape(2, 64)[:, ::-1])
__global__ void wrong(const int *x, int *y) {
    __shared__ int *scratch;
    int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    if (t == 0) scratch = static_cast<int *>(malloc(blockDim.x * sizeof(int)));
    __syncthreads();
    scratch[t] = x[first + t];
    __syncthreads();
    if (t == 0) free(scratch);
    __syncthreads();
    y[first + t] = scratch[blockDim.x - 1 - t]; //! freed
}

__global__ void right(const int *x, int *y) {
    __shared__ int *scratch;
    int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    if (t == 0) scratch = static_cast<int *>(malloc(blockDim.x * sizeof(int)));
    __syncthreads();
    scratch[t] = x[first + t];
    __syncthreads();
    y[first + t] = scratch[blockDim.x - 1 - t];
    __syncthreads();
    if (t == 0) free(scratch);
}

// The scratch memory is large enough for every block, but all blocks use its first part.
//> x = ck.asarray(ints(256)); scratch = ck.empty(256, "i4"); y = ck.empty(256, "i4"); kernel[4, 64](x, scratch, y)
//= np.testing.assert_array_equal(y.get().reshape(4, 64), x.get().reshape(4, 64)[:, ::-1])
__global__ void wrong(const int *x, int *scratch, int *y) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    scratch[t] = x[i]; //! race
    __syncthreads();
    y[i] = scratch[blockDim.x - 1 - t]; //! race
}

__global__ void right(const int *x, int *scratch, int *y) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int *ours = scratch + blockIdx.x * blockDim.x;
    ours[t] = x[i];
    __syncthreads();
    y[i] = ours[blockDim.x - 1 - t];
}

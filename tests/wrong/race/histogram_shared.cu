// Threads with equal values increment one shared counter, without atomics.
//> x = ck.asarray(ints(512) % 16); bins = ck.zeros(16, "i4"); kernel[2, 256](x, bins)
//= np.testing.assert_array_equal(bins.get(), np.bincount(x.get(), minlength=16))
__global__ void wrong(const int *x, int *bins) {
    __shared__ int local[16];
    int t = threadIdx.x;
    if (t < 16) local[t] = 0;
    __syncthreads();
    ++local[x[blockIdx.x * blockDim.x + t]]; //! race
    __syncthreads();
    if (t < 16) atomicAdd(&bins[t], local[t]);
}

__global__ void right(const int *x, int *bins) {
    __shared__ int local[16];
    int t = threadIdx.x;
    if (t < 16) local[t] = 0;
    __syncthreads();
    atomicAdd(&local[x[blockIdx.x * blockDim.x + t]], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&bins[t], local[t]);
}

// Some threads already count while others still set the counters to zero.
//> x = ck.asarray(ints(256) % 64); bins = ck.empty(64, "i4"); kernel[1, 256](x, bins)
//= np.testing.assert_array_equal(bins.get(), np.bincount(x.get(), minlength=64))
__global__ void wrong(const int *x, int *bins) {
    __shared__ int local[64];
    int t = threadIdx.x;
    if (t < 64) local[t] = 0;   //! race
    atomicAdd(&local[x[t]], 1); //! race
    __syncthreads();
    if (t < 64) bins[t] = local[t];
}

__global__ void right(const int *x, int *bins) {
    __shared__ int local[64];
    int t = threadIdx.x;
    if (t < 64) local[t] = 0;
    __syncthreads();
    atomicAdd(&local[x[t]], 1);
    __syncthreads();
    if (t < 64) bins[t] = local[t];
}

// A block of 128 threads has 256 bins: `if (t < 256)` zeroes only the first 128 of them.
//> x = ck.asarray((ints(1024) + 100).astype("u1")); bins = ck.zeros(256, "i4"); kernel[8, 128](x, bins)
//= np.testing.assert_array_equal(bins.get(), np.bincount(x.get(), minlength=256))
__global__ void wrong(const unsigned char *x, int *bins) {
    __shared__ int local[256];
    int t = threadIdx.x;
    if (t < 256) local[t] = 0;
    __syncthreads();
    atomicAdd(&local[x[blockIdx.x * blockDim.x + t]], 1); //! uninitialised local[128]
    __syncthreads();
    if (local[t]) atomicAdd(&bins[t], local[t]);
}

__global__ void right(const unsigned char *x, int *bins) {
    __shared__ int local[256];
    int t = threadIdx.x;
    for (int b = t; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    atomicAdd(&local[x[blockIdx.x * blockDim.x + t]], 1);
    __syncthreads();
    for (int b = t; b < 256; b += blockDim.x)
        if (local[b]) atomicAdd(&bins[b], local[b]);
}

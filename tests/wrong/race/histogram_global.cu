// Threads of all blocks increment the bins of one histogram in global memory.
//> x = ck.asarray(ints(600).astype("u1")); bins = ck.zeros(100, "u4"); kernel[3, 64](x, bins, 600)
//= np.testing.assert_array_equal(bins.get(), np.bincount(x.get(), minlength=100))
__global__ void wrong(const unsigned char *x, unsigned *bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        bins[x[i]] += 1; //! race
    }
}

__global__ void right(const unsigned char *x, unsigned *bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[x[i]], 1);
    }
}

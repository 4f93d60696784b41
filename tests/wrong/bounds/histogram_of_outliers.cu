// The values of the data decide where a count goes, and nobody checked them against the number of bins.
//> x = ck.asarray(ints(1000)); bins = ck.zeros(64, "i4")
//> kernel[4, 256](x, bins, 1000, 64)
//= np.testing.assert_array_equal(bins.get(), np.bincount(np.minimum(x.get(), 63), minlength=64))
__global__ void wrong(const int *x, int *bins, int n, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i]], 1); //! bounds bins[64]
}

__global__ void right(const int *x, int *bins, int n, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[min(x[i], count - 1)], 1);
}

// A histogram: a private one per block, zeroed, filled and added to the global one, with barriers between.
//> x = ck.asarray(ints(3000)); bins = ck.zeros(100, "u4"); kernel[5, 128](x, bins, 3000)
//= np.testing.assert_array_equal(bins.get(), np.bincount(x.get(), minlength=100))
__global__ void right(const int *x, unsigned *bins, int n) {
    __shared__ unsigned own[100];
    for (int i = threadIdx.x; i < 100; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 100; i += blockDim.x)
        if (own[i]) atomicAdd(&bins[i], own[i]);
}

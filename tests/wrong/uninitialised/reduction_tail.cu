// In the last block only some threads have an element. The others store nothing, but the tree adds their places too.
//> x = ck.asarray(ints(300)); sums = ck.empty(3, "i4"); kernel[3, 128](x, sums, 300)
//= np.testing.assert_array_equal(sums.get(), np.pad(x.get(), (0, 84)).reshape(3, 128).sum(1))
__global__ void wrong(const int *x, int *sums, int n) {
    __shared__ int cache[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) cache[t] = x[i];
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) cache[t] += cache[t + s]; //! uninitialised cache[44]
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = cache[0];
}

__global__ void right(const int *x, int *sums, int n) {
    __shared__ int cache[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    cache[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) cache[t] += cache[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = cache[0];
}

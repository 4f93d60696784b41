// The steps of a tree are not separated by barriers: a thread adds what another one has not added up yet.
//> x = ck.asarray(floats(1024)); sums = ck.empty(4, "f4"); kernel[4, 256](x, sums)
//= np.testing.assert_allclose(sums.get(), x.get().reshape(4, 256).sum(1), rtol=1e-5)
__global__ void wrong(const float *x, float *sums) {
    __shared__ float cache[256];
    int t = threadIdx.x;
    cache[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) cache[t] += cache[t + s]; //! race
    }
    if (t == 0) sums[blockIdx.x] = cache[0];
}

__global__ void right(const float *x, float *sums) {
    __shared__ float cache[256];
    int t = threadIdx.x;
    cache[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) cache[t] += cache[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = cache[0];
}

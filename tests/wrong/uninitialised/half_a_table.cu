// A table of 64 entries in shared memory is filled by one warp, which fills 32.
//> x = ck.asarray(ints(256)); y = ck.empty(256, "f4"); kernel[2, 128](x, y)
//= np.testing.assert_allclose(y.get(), np.sqrt(x.get() % 64), rtol=1e-6)
__global__ void wrong(const int *x, float *y) {
    __shared__ float roots[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 32) roots[threadIdx.x] = sqrtf(threadIdx.x);
    __syncthreads();
    y[i] = roots[x[i] % 64]; //! uninitialised roots[32]
}

__global__ void right(const int *x, float *y) {
    __shared__ float roots[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64) roots[threadIdx.x] = sqrtf(threadIdx.x);
    __syncthreads();
    y[i] = roots[x[i] % 64];
}

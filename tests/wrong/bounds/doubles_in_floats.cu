// A buffer of floats is used for doubles, of which only half as many have room.
//> x = ck.asarray(floats(64)); y = ck.empty(64, "f4"); kernel[1, 64](x, y)
//= np.testing.assert_allclose(y.get(), np.cumsum(x.get()), rtol=1e-5)
__global__ void wrong(const float *x, float *y) {
    __shared__ double aligned[32];
    float *buffer = reinterpret_cast<float *>(aligned);
    double *sums = reinterpret_cast<double *>(buffer);
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < blockDim.x; ++i) sums[i] = sum += x[i]; //! bounds
    }
    __syncthreads();
    y[threadIdx.x] = static_cast<float>(sums[threadIdx.x]); //! bounds
}

__global__ void right(const float *x, float *y) {
    __shared__ double sums[64];
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < blockDim.x; ++i) sums[i] = sum += x[i];
    }
    __syncthreads();
    y[threadIdx.x] = static_cast<float>(sums[threadIdx.x]);
}

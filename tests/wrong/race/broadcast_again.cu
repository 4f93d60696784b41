// Gaussian elimination: each step publishes a new factor. The barrier makes all see it, but nothing keeps thread 0
// from publishing the next one while others still read.
//> a = ck.asarray(floats(64 * 8).reshape(8, 64)); h = a.get(); y = ck.empty(64, "f4"); kernel[1, 64](a, y, 8)
//= np.testing.assert_allclose(y.get(), sum(row * row[0] for row in h), rtol=1e-5)
__global__ void wrong(const float *a, float *y, int rows) {
    __shared__ float factor;
    float sum = 0;
    for (int row = 0; row < rows; ++row) {
        if (threadIdx.x == 0) factor = a[row * 64]; //! race
        __syncthreads();
        sum += factor * a[row * 64 + threadIdx.x]; //! race
    }
    y[threadIdx.x] = sum;
}

__global__ void right(const float *a, float *y, int rows) {
    __shared__ float factor;
    float sum = 0;
    for (int row = 0; row < rows; ++row) {
        if (threadIdx.x == 0) factor = a[row * 64];
        __syncthreads();
        sum += factor * a[row * 64 + threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// A grid-stride loop whose bound is inclusive.
//> x = ck.asarray(floats(1000)); y = ck.asarray(floats(1000)); before = y.get()
//> kernel[3, 64](2.5, x, y, 1000)
//= np.testing.assert_allclose(y.get(), 2.5 * x.get() + before, rtol=1e-6)
__global__ void wrong(float a, const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x) {
        y[i] = a * x[i] + y[i]; //! bounds x[1000], y[1000]
    }
}

__global__ void right(float a, const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = a * x[i] + y[i];
    }
}

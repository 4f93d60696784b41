// y is a new array without contents, and the kernel adds to it instead of setting it.
//> x = ck.asarray(floats(700)); y = ck.empty(700, "f4"); kernel[3, 256](x, y, 700)
//= np.testing.assert_array_equal(y.get(), 2 * x.get())
__global__ void wrong(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += 2 * x[i]; //! uninitialised y[0]
}

__global__ void right(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

// The guard is missing: the last block has threads without an element.
//> x = ck.asarray(floats(1000)); y = ck.empty(1000, "f4")
//> kernel[4, 256](x, y, 1000)
//= np.testing.assert_array_equal(y.get(), 2 * x.get())
__global__ void wrong(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i]; //! bounds x[1000], y[1000]
}

__global__ void right(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

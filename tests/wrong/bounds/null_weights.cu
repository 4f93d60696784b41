// The weights are optional: without them the pointer is null, which the kernel must test.
//> x = ck.asarray(floats(100)); y = ck.empty(100, "f4"); kernel[1, 128](x, None, y, 100)
//= np.testing.assert_array_equal(y.get(), x.get())
__global__ void wrong(const float *x, const float *weights, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * weights[i]; //! bounds null pointer
}

__global__ void right(const float *x, const float *weights, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = weights ? x[i] * weights[i] : x[i];
}

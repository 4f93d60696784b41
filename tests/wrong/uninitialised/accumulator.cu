// The thread's sum begins with whatever is in the register.
//> a = ck.asarray(floats(64 * 48).reshape(64, 48)); x = ck.asarray(floats(48)); y = ck.empty(64, "f4")
//> kernel[2, 32](a, x, y, 48)
//= np.testing.assert_allclose(y.get(), a.get() @ x.get(), rtol=1e-4)
__global__ void wrong(const float *a, const float *x, float *y, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum;
    for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k]; //! uninitialised sum
    y[row] = sum;
}

__global__ void right(const float *a, const float *x, float *y, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k];
    y[row] = sum;
}

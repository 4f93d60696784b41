// The index is a short: from 32768 on it is negative, and the guard lets it pass.
//> x = ck.asarray(ints(33000)); y = ck.zeros(33000, "i4")
//> kernel[129, 256](x, y, 33000)
//= np.testing.assert_array_equal(y.get(), x.get() ** 2)
__global__ void wrong(const int *x, int *y, int n) {
    short i = static_cast<short>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = x[i] * x[i]; //! bounds x[-32768]
}

__global__ void right(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}

// 1000 // 256 is rounded down: three blocks, and nobody writes the last 232 elements.
//> x = ck.asarray(floats(1000)); y = ck.empty(1000, "f4")
//> blocks = 1000 // 256 if twin == "wrong" else (1000 + 255) // 256
//> kernel[blocks, 256](x, y, 1000) //! unwritten y[768]
//= np.testing.assert_array_equal(y.get(), 2 * x.get())
__global__ void wrong(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

__global__ void right(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

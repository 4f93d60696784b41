// Both arrays are parts of one allocation with a gap between them: an access beyond the first one stays inside the
// allocation, and no guard page notices it.
//> pool = ck.asarray(floats(4096)); x = pool[:1000]; y = pool[2048:3048]
//> kernel[4, 256](x, y, 1000)
//= np.testing.assert_array_equal(y.get(), np.sqrt(x.get()))
__global__ void wrong(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = sqrtf(x[i]); //! bounds x[1000]
}

__global__ void right(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sqrtf(x[i]);
}

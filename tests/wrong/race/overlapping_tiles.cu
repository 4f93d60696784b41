// Each block writes 66 elements from 64 threads, its own and one on each side, which the neighbouring blocks write,
// too.
//> x = ck.asarray(floats(256)); y = ck.zeros(256, "f4"); kernel[4, 64](x, y, 256)
//= np.testing.assert_array_equal(y.get(), 2 * x.get())
__global__ void wrong(const float *x, float *y, int n) {
    int first = blockIdx.x * blockDim.x - 1;
    for (int j = threadIdx.x; j < blockDim.x + 2; j += blockDim.x) {
        int i = first + j;
        if (i >= 0 && i < n) y[i] = 2 * x[i]; //! race
    }
}

__global__ void right(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

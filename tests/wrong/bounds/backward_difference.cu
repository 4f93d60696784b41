// The first element has no element before it: thread 0 reads x[-1].
//> x = ck.asarray(floats(500)); d = ck.empty(500, "f4")
//> kernel[4, 128](x, d, 500)
//= expected = x.get(); expected[1:] = np.diff(x.get())
//= np.testing.assert_array_equal(d.get(), expected)
__global__ void wrong(const float *x, float *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = x[i] - x[i - 1]; //! bounds x[-1]
}

__global__ void right(const float *x, float *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = i > 0 ? x[i] - x[i - 1] : x[i];
}

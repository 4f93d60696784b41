// The result replaces the input, which the neighbours still need.
//> x = ck.asarray(floats(512)); h = x.get(); out = ck.empty(512, "f4"); kernel[4, 128](x, out, 512)
//= np.testing.assert_allclose(out.get()[1:-1], (h[:-2] + h[1:-1] + h[2:]) / 3, rtol=1e-5)
__global__ void wrong(float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3; //! race
}

__global__ void right(float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}

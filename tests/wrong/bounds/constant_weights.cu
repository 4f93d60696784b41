// A filter of radius 2 has five weights; the loop reads a sixth one.
//> x = ck.asarray(floats(260)); y = ck.empty(256, "f4")
//> program.symbol("weights")[:] = [1, 4, 6, 4, 1]
//> kernel[2, 128](x, y, 2)
//= np.testing.assert_allclose(y.get(), np.convolve(x.get(), [1, 4, 6, 4, 1], "valid"), rtol=1e-5)
__constant__ float weights[5];

__global__ void wrong(const float *x, float *y, int radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = -radius; r <= radius; ++r) {
        sum += weights[r + radius + 1] * x[i + radius + r]; //! bounds weights[5]
    }
    y[i] = sum;
}

__global__ void right(const float *x, float *y, int radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = -radius; r <= radius; ++r) {
        sum += weights[r + radius] * x[i + radius + r];
    }
    y[i] = sum;
}

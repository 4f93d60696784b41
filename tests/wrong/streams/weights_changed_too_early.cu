// The host copies new weights to constant memory while a kernel in another stream still reads the old ones.
//> x = ck.asarray(floats(1000)); y = ck.empty(1000, "f4"); program.symbol("weights")[:] = [1, 2, 3]
//> ck.synchronize(); stream = ck.Stream()
//> kernel(4, 250, x, y, stream=stream) //! streams
//> if twin == "right": stream.synchronize()
//> program.symbol("weights")[:] = [3, 2, 1] //! streams
//= np.testing.assert_allclose(y.get(), 6 * x.get(), rtol=1e-5)
__constant__ float weights[3];

__global__ void wrong(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * weights[0] * weights[1] * weights[2];
}

__global__ void right(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * weights[0] * weights[1] * weights[2];
}

// The blocks' barrier orders the two steps, but __ldg reads through a cache for data that stays as it is while the
// kernel runs. It may return what was there before.
//> x = ck.asarray(floats(128)); y = ck.empty(128, "f4"); kernel[2, 64](x, y)
//= s = x.get().reshape(2, 64)
//= np.testing.assert_allclose(y.get().reshape(2, 64), s + s[:, ::-1], rtol=1e-6)
__global__ void wrong(float *x, float *y) {
    int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    x[first + t] = sqrtf(x[first + t]); //! race
    __syncthreads();
    y[first + t] = x[first + t] + __ldg(&x[first + blockDim.x - 1 - t]); //! race
}

__global__ void right(float *x, float *y) {
    int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    x[first + t] = sqrtf(x[first + t]);
    __syncthreads();
    y[first + t] = x[first + t] + x[first + blockDim.x - 1 - t];
}

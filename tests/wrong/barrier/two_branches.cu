// The two halves of a block wait at two barriers: they look alike, but a barrier is a place in the program.
//> x = ck.asarray(floats(64)); y = ck.empty(64, "f4"); kernel[1, 64](x, y)
//= h = x.get(); np.testing.assert_allclose(y.get(), np.r_[h[32:] + 1, 2 * h[:32]], rtol=1e-6)
__global__ void wrong(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < 32) {
        tile[t] = 2 * x[t];
        __syncthreads(); //! barrier
    } else {
        tile[t] = x[t] + 1;
        __syncthreads(); //! barrier
    }
    y[t] = tile[t ^ 32];
}

__global__ void right(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < 32)
        tile[t] = 2 * x[t];
    else
        tile[t] = x[t] + 1;
    __syncthreads();
    y[t] = tile[t ^ 32];
}

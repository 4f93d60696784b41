// Two reductions share one array: threads that already begin the sum overwrite cache[0], from which others still read
// the maximum.
//> x = ck.asarray(4 * floats(128)); y = ck.empty(128, "f4"); kernel[1, 128](x, y)
//= e = np.exp(x.get()); np.testing.assert_allclose(y.get(), e / e.sum(), rtol=1e-4)
__global__ void wrong(const float *x, float *y) {
    __shared__ float cache[128];
    int t = threadIdx.x;
    cache[t] = x[t];
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) cache[t] = fmaxf(cache[t], cache[t + s]);
        __syncthreads();
    }
    float power = expf(x[t] - cache[0]); //! race
    cache[t] = power;                    //! race
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) cache[t] += cache[t + s];
        __syncthreads();
    }
    y[t] = power / cache[0];
}

__global__ void right(const float *x, float *y) {
    __shared__ float cache[128];
    int t = threadIdx.x;
    cache[t] = x[t];
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) cache[t] = fmaxf(cache[t], cache[t + s]);
        __syncthreads();
    }
    float power = expf(x[t] - cache[0]);
    __syncthreads();
    cache[t] = power;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) cache[t] += cache[t + s];
        __syncthreads();
    }
    y[t] = power / cache[0];
}

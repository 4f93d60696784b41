// Two arrays are carved from dynamic shared memory, which is large enough for both; but the second one begins four
// times as far on as it should, because its offset is counted in bytes and added to a pointer to floats.
//> x = ck.asarray(floats(96)); y = ck.asarray(floats(96)); dot = ck.zeros(1, "f4")
//> kernel[1, 96, 2 * 96 * 4](x, y, dot)
//= np.testing.assert_allclose(dot.get(), x.get() @ y.get(), rtol=1e-5)
extern __shared__ float memory[];

__global__ void wrong(const float *x, const float *y, float *dot) {
    int t = threadIdx.x;
    float *ours = memory, *others = memory + blockDim.x * sizeof(float);
    ours[t] = x[t];
    others[t] = y[t]; //! bounds
    __syncthreads();
    if (t == 0) {
        float sum = 0;
        for (int i = 0; i < 96; ++i) sum += ours[i] * others[i]; //! bounds
        *dot = sum;
    }
}

__global__ void right(const float *x, const float *y, float *dot) {
    int t = threadIdx.x;
    float *ours = memory, *others = memory + blockDim.x;
    ours[t] = x[t];
    others[t] = y[t];
    __syncthreads();
    if (t == 0) {
        float sum = 0;
        for (int i = 0; i < 96; ++i) sum += ours[i] * others[i];
        *dot = sum;
    }
}

// The tree of the textbooks: interleaved addresses, with a barrier on each level; the last warp uses volatile reads
// with __syncwarp between reads and writes.
//> x = ck.asarray(floats(1000)); y = ck.empty(8, "f4"); kernel[8, 64, 256](x, y, 1000)
//= np.testing.assert_allclose(y.get().sum(), x.get().sum(), rtol=1e-5)
__global__ void right(const float *x, float *y, unsigned n) {
    extern __shared__ float values[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    values[t] = (i < n ? x[i] : 0) + (i + blockDim.x < n ? x[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s >= 32; s >>= 1) {
        if (t < s) values[t] += values[t + s];
        __syncthreads();
    }
    if (t < 32) {
        volatile float *v = values;
        float sum = v[t];
        for (int offset = 16; offset > 0; offset /= 2) {
            float other = t < offset ? v[t + offset] : 0;
            __syncwarp();
            v[t] = sum += other;
            __syncwarp();
        }
    }
    if (t == 0) y[blockIdx.x] = values[0];
}

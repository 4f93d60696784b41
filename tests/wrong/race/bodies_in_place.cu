// Every body is moved while the threads of other bodies still compute the forces from its old position.
//> p = ck.asarray(floats(96)); h = p.get().astype("f8"); out = ck.empty(96, "f4"); kernel[3, 32](p, out, 96)
//= d = h - h[:, None]; e = h + 0.01 * (d / (d * d + 0.1)).sum(1)
//= np.testing.assert_allclose(out.get(), e, rtol=1e-4, atol=1e-5)
__device__ float force(float from, float to) {
    float d = to - from;
    return d / (d * d + 0.1f);
}

__global__ void wrong(float *p, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, self = p[i];
    for (int j = 0; j < n; ++j) sum += force(self, p[j]); //! race
    p[i] = self + 0.01f * sum;                            //! race
}

__global__ void right(float *p, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, self = p[i];
    for (int j = 0; j < n; ++j) sum += force(self, p[j]);
    out[i] = self + 0.01f * sum;
}

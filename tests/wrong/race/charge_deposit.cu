// Each particle adds its charge to the two grid points next to it. Particles in neighbouring cells meet there.
//> x = ck.asarray((32 * floats(256)).clip(0, 31.5)); rho = ck.zeros(33, "f4"); kernel[2, 128](x, rho)
//= h = x.get(); c = h.astype(int); w = h - c; e = np.bincount(c, 1 - w, 33) + np.bincount(c + 1, w, 33)
//= np.testing.assert_allclose(rho.get(), e, rtol=1e-3, atol=1e-3)
__global__ void wrong(const float *x, float *rho) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, cell = static_cast<int>(x[i]);
    float weight = x[i] - cell;
    rho[cell] += 1 - weight; //! race
    rho[cell + 1] += weight; //! race
}

__global__ void right(const float *x, float *rho) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, cell = static_cast<int>(x[i]);
    float weight = x[i] - cell;
    atomicAdd(&rho[cell], 1 - weight);
    atomicAdd(&rho[cell + 1], weight);
}

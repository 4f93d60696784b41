// Each thread computes four elements of the product in registers, to which it adds without having cleared them.
//> a = ck.asarray(floats(32)); b = ck.asarray(floats(128)); y = ck.empty((32, 128), "f4")
//> kernel[8, 32](a, b, y)
//= np.testing.assert_allclose(y.get(), np.outer(a.get(), b.get()), rtol=1e-5)
__device__ void add(float (&to)[4], float a, const float *b) {
    for (int j = 0; j < 4; ++j) to[j] = a * b[j];
}

__global__ void wrong(const float *a, const float *b, float *y) {
    int row = blockIdx.x * 4 + threadIdx.x / 8;
    for (int first = threadIdx.x % 8 * 4; first < 128; first += 32) {
        float tile[4];
        for (int j = 0; j < 4; ++j) tile[j] += a[row] * b[first + j]; //! uninitialised tile
        for (int j = 0; j < 4; ++j) y[row * 128 + first + j] = tile[j];
    }
}

__global__ void right(const float *a, const float *b, float *y) {
    int row = blockIdx.x * 4 + threadIdx.x / 8;
    for (int first = threadIdx.x % 8 * 4; first < 128; first += 32) {
        float tile[4];
        add(tile, a[row], b + first);
        for (int j = 0; j < 4; ++j) y[row * 128 + first + j] = tile[j];
    }
}

// Each round asks for a new scratch array, and only the last one is freed.
//> y = ck.empty(8, "f4"); kernel[2, 4](y, 3)
//= np.testing.assert_array_equal(y.get(), np.tile(np.arange(4) * 6, 2))
__global__ void wrong(float *y, int rounds) {
    float *scratch = nullptr, sum = 0;
    for (int r = 1; r <= rounds; ++r) {
        scratch = new float[r]; //! leak
        for (int i = 0; i < r; ++i) scratch[i] = threadIdx.x;
        for (int i = 0; i < r; ++i) sum += scratch[i];
    }
    delete[] scratch;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void right(float *y, int rounds) {
    float *scratch = new float[rounds], sum = 0;
    for (int r = 1; r <= rounds; ++r) {
        for (int i = 0; i < r; ++i) scratch[i] = threadIdx.x;
        for (int i = 0; i < r; ++i) sum += scratch[i];
    }
    delete[] scratch;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

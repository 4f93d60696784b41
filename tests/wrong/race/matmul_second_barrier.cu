// Fast threads load the next tiles while slow ones still multiply the current ones.
//> a, b = (ck.asarray(floats(32 * 32).reshape(32, 32)) for _ in "ab"); c = ck.empty((32, 32), "f4")
//> kernel[(2, 2), (16, 16)](a, b, c, 32)
//= np.testing.assert_allclose(c.get(), a.get() @ b.get(), rtol=1e-5)
__global__ void wrong(const float *a, const float *b, float *c, int n) {
    __shared__ float a_tile[16][16], b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < n; first += 16) {
        a_tile[y][x] = a[row * n + first + x];      //! race
        b_tile[y][x] = b[(first + y) * n + column]; //! race
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x]; //! race
    }
    c[row * n + column] = sum;
}

__global__ void right(const float *a, const float *b, float *c, int n) {
    __shared__ float a_tile[16][16], b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < n; first += 16) {
        a_tile[y][x] = a[row * n + first + x];
        b_tile[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

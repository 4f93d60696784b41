// 20 rows and columns are no multiple of the tile's 16. Places outside the matrix are not loaded, but they are added.
//> a, b = (ck.asarray(floats(400).reshape(20, 20)) for _ in "ab"); c = ck.empty((20, 20), "f4")
//> kernel[(2, 2), (16, 16)](a, b, c, 20)
//= np.testing.assert_allclose(c.get(), a.get() @ b.get(), rtol=1e-5)
#define TILE 16

__global__ void wrong(const float *a, const float *b, float *c, int n) {
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        if (row < n && first + x < n) a_tile[y][x] = a[row * n + first + x];
        if (first + y < n && column < n) b_tile[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a_tile[y][k] * b_tile[k][x]; //! uninitialised
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void right(const float *a, const float *b, float *c, int n) {
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        a_tile[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0;
        b_tile[y][x] = first + y < n && column < n ? b[(first + y) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

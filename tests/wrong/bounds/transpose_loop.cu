// The loop that loads a tile of 32 rows in steps of 8 runs once too often: <= instead of <.
//> m = ck.asarray(floats(64 * 64).reshape(64, 64)); out = ck.empty((64, 64), "f4")
//> kernel[(2, 2), (32, 8)](m, out, 64)
//= np.testing.assert_array_equal(out.get(), m.get().T)
#define TILE 32
#define ROWS 8

__global__ void wrong(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j <= TILE; j += ROWS) {
        float value = in[(y + j) % n * n + x];
        tile[threadIdx.y + j][threadIdx.x] = value; //! bounds tile[32][0]
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void right(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

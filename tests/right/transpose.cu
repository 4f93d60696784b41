// A transpose through a padded tile, with more rows per thread and edges.
//> a = ck.asarray(floats(50 * 70).reshape(50, 70)); b = ck.empty((70, 50), "f4")
//> kernel[(3, 2), (32, 8)](a, b, 50, 70)
//= np.testing.assert_array_equal(b.get(), a.get().T)
__global__ void right(const float *a, float *b, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < columns) b[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

// A sparse matrix in ELL form: columns of entries, and -1 where a row has no more; those values are never read.
//> h = np.full((4, 50), -1, "i4"); n = ints(50) % 5
//> for r in range(50): h[: n[r], r] = ints(4)[: n[r]] % 30
//> columns = ck.asarray(h); x = ck.asarray(floats(30)); y = ck.empty(50, "f4"); values = ck.empty((4, 50), "f4")
//> program.fill[4, 64](columns, values, 200); kernel[1, 64](columns, values, x, y, 50, 4)
//= np.testing.assert_allclose(y.get(), np.where(h >= 0, (h + 1) * x.get()[h], 0).sum(0), rtol=1e-5)
__global__ void fill(const int *columns, float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && columns[i] >= 0) values[i] = columns[i] + 1;
}

__global__ void right(const int *columns, const float *values, const float *x, float *y, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int j = 0; j < width; ++j) {
        int column = columns[j * rows + row];
        if (column >= 0) sum += values[j * rows + row] * x[column];
    }
    y[row] = sum;
}

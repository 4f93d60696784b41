// A sparse matrix from Fortran: its column numbers begin at 1.
//> a = np.round(floats(20 * 16)).reshape(20, 16); a[:, -1] = 1; rows, columns = a.nonzero()
//> starts = ck.asarray(np.r_[0, np.cumsum(a.sum(1))].astype("i4")); columns = ck.asarray((columns + 1).astype("i4"))
//> x = ck.asarray(floats(16)); y = ck.empty(20, "f4"); kernel[1, 32](starts, columns, x, y, 20)
//= np.testing.assert_allclose(y.get(), a @ x.get(), rtol=1e-5)
__global__ void wrong(const int *starts, const int *columns, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int j = starts[row]; j < starts[row + 1]; ++j) sum += x[columns[j]]; //! bounds x[16]
    y[row] = sum;
}

__global__ void right(const int *starts, const int *columns, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int j = starts[row]; j < starts[row + 1]; ++j) sum += x[columns[j] - 1];
    y[row] = sum;
}

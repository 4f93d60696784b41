// A sparse matrix times a vector, by columns: the columns add to the same elements of the result.
//> a = np.round(floats(24 * 24)).reshape(24, 24); a[0] = 1; columns, rows = a.T.nonzero()
//> starts = ck.asarray(np.r_[0, np.cumsum(a.sum(0))].astype("i4")); rows = ck.asarray(rows.astype("i4"))
//> x = ck.asarray(floats(24)); y = ck.zeros(24, "f4"); kernel[1, 24](starts, rows, x, y)
//= np.testing.assert_allclose(y.get(), a @ x.get(), rtol=1e-5)
__global__ void wrong(const int *starts, const int *rows, const float *x, float *y) {
    int column = threadIdx.x;
    for (int j = starts[column]; j < starts[column + 1]; ++j) {
        y[rows[j]] += x[column]; //! race
    }
}

__global__ void right(const int *starts, const int *rows, const float *x, float *y) {
    int column = threadIdx.x;
    for (int j = starts[column]; j < starts[column + 1]; ++j) {
        atomicAdd(&y[rows[j]], x[column]);
    }
}

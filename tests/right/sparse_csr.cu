// A sparse matrix in CSR form times a vector, half a warp per row; rows that are empty or long.
//> lengths = ints(60) % 40; starts = ck.asarray(np.r_[0, np.cumsum(lengths)].astype("i4")); nnz = int(lengths.sum())
//> columns = ck.asarray(ints(nnz)); values = ck.asarray(floats(nnz))
//> x = ck.asarray(floats(100)); y = ck.empty(60, "f4"); kernel[8, 128](starts, columns, values, x, y, 60)
//= e = np.zeros(60); np.add.at(e, np.repeat(np.arange(60), lengths), values.get() * x.get()[columns.get()])
//= np.testing.assert_allclose(y.get(), e, rtol=1e-4, atol=1e-5)
__global__ void right(const int *starts, const int *columns, const float *values, const float *x, float *y,
                      int rows) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 16, lane = thread % 16;
    float sum = 0;
    if (row < rows)
        for (int i = starts[row] + lane; i < starts[row + 1]; i += 16) sum += values[i] * x[columns[i]];
    for (int d = 8; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d, 16);
    if (lane == 0 && row < rows) y[row] = sum;
}

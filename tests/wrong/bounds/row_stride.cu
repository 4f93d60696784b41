// The rows of a matrix in C order are `columns` elements apart, not `rows`.
//> m = ck.asarray(floats(40 * 25).reshape(40, 25)); bias = ck.asarray(floats(25)); out = ck.empty((40, 25), "f4")
//> kernel[(1, 5), (32, 8)](m, bias, out, 40, 25)
//= np.testing.assert_array_equal(out.get(), m.get() + bias.get())
__global__ void wrong(const float *m, const float *bias, float *out, int rows, int columns) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        float value = m[row * columns + column] + bias[column];
        out[row * rows + column] = value; //! bounds out[1000]
    }
}

__global__ void right(const float *m, const float *bias, float *out, int rows, int columns) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        float value = m[row * columns + column] + bias[column];
        out[row * columns + column] = value;
    }
}

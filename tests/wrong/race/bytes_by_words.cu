// Four threads share a word and each sets its byte by reading, changing and writing the whole word. (Writes of single
// bytes next to each other are no race.)
//> x = ck.asarray(floats(256)); y = ck.zeros(256, "u1"); kernel[1, 256](x, y)
//= np.testing.assert_array_equal(y.get(), (255 * x.get()).astype("u1"))
__global__ void wrong(const float *x, unsigned char *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *word = reinterpret_cast<unsigned *>(y) + i / 4;
    *word |= static_cast<unsigned>(255 * x[i]) << 8 * (i % 4); //! race
}

__global__ void right(const float *x, unsigned char *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = static_cast<unsigned char>(255 * x[i]);
}

// The caller passes x[1:], which is no multiple of 8 bytes, to a kernel that reads pairs of ints.
//> x = ck.asarray(ints(201)); y = ck.empty(100, "i4"); kernel[1, 128](x[1:], y, 100)
//= np.testing.assert_array_equal(y.get(), x.get()[1:].reshape(100, 2).sum(1))
__global__ void wrong(const int *x, int *y, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    int2 pair = reinterpret_cast<const int2 *>(x)[i]; //! misaligned
    y[i] = pair.x + pair.y;
}

__global__ void right(const int *x, int *y, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    y[i] = x[2 * i] + x[2 * i + 1];
}

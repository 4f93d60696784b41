// The caller passes x[1:], which is no multiple of 8 bytes, to a kernel that reads pairs of ints.
//> x = ck.asarray(ints(201)); y = ck.empty(200, "i4"); kernel[1, 128](x[1:], y, 100)
//= np.testing.assert_array_equal(y.get(), x.get()[1:].reshape(100, 2)[:, ::-1].ravel())
__global__ void wrong(const int *x, int *y, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    const int2 *in = reinterpret_cast<const int2 *>(x);
    reinterpret_cast<int2 *>(y)[i] = make_int2(in[i].y, in[i].x); //! misaligned
}

__global__ void right(const int *x, int *y, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    reinterpret_cast<int2 *>(y)[i] = make_int2(x[2 * i + 1], x[2 * i]);
}

// Each thread writes a pair of elements, so of 501 elements the last one is left out.
//> x = ck.asarray(ints(501)); y = ck.empty(501, "i4")
//> kernel[1, 256](x, y, 501) //! unwritten y[500]
//= h = x.get(); e = h.copy(); e[:500] = h[:500].reshape(250, 2)[:, ::-1].ravel()
//= np.testing.assert_array_equal(y.get(), e)
__global__ void wrong(const int *x, int *y, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) y[i] = x[i + 1], y[i + 1] = x[i];
}

__global__ void right(const int *x, int *y, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n)
        y[i] = x[i + 1], y[i + 1] = x[i];
    else if (i < n)
        y[i] = x[i];
}

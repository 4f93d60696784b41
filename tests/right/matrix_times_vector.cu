// One warp per row: lanes stride along it, and a reduction by shuffles ends it.
//> a = ck.asarray(floats(45 * 77).reshape(45, 77)); x = ck.asarray(floats(77)); y = ck.empty(45, "f4")
//> kernel[6, (32, 8)](a, x, y, 45, 77)
//= np.testing.assert_allclose(y.get(), a.get() @ x.get(), rtol=1e-5)
__global__ void right(const float *a, const float *x, float *y, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0;
    for (int j = threadIdx.x; j < columns; j += 32) sum = fmaf(a[row * columns + j], x[j], sum);
    for (int mask = 16; mask; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (threadIdx.x == 0) y[row] = sum;
}

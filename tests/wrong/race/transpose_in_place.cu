// Each pair of elements is exchanged by two threads, that of the upper and that of the lower triangle.
//> m = ck.asarray(ints(32 * 32).reshape(32, 32)); h = m.get(); kernel[(2, 2), (16, 16)](m, 32)
//= np.testing.assert_array_equal(m.get(), h.T)
__global__ void wrong(int *m, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == y) return;
    int upper = m[y * n + x], lower = m[x * n + y]; //! race
    m[y * n + x] = lower;                           //! race
    m[x * n + y] = upper;                           //! race
}

__global__ void right(int *m, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= y) return;
    int upper = m[y * n + x], lower = m[x * n + y];
    m[y * n + x] = lower;
    m[x * n + y] = upper;
}

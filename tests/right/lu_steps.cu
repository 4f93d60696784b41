// LU without pivots, one launch per column: multipliers of the column in shared memory, then the rest of the matrix.
//> h = floats(400).reshape(20, 20) + 20 * np.eye(20, dtype="f4"); a = ck.asarray(h)
//> for k in range(19): program.column[1, 32](a, 20, k); kernel[(2, 2), (16, 16)](a, 20, k)
//= r = a.get().astype("f8")
//= np.testing.assert_allclose((np.tril(r, -1) + np.eye(20)) @ np.triu(r), h, rtol=1e-3, atol=1e-3)
__global__ void column(float *a, int n, int k) {
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) a[i * n + k] /= a[k * n + k];
}

__global__ void right(float *a, int n, int k) {
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y, j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

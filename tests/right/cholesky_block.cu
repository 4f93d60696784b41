// Cholesky of a block in shared memory: a barrier after the root, after the column and after the update.
//> b = floats(24 * 24).reshape(24, 24); h = b @ b.T + 24 * np.eye(24, dtype="f4")
//> a = ck.asarray(h); kernel[1, 24](a, 24)
//= np.testing.assert_allclose(np.tril(a.get()), np.linalg.cholesky(h.astype("f8")), rtol=1e-3, atol=1e-3)
__global__ void right(float *a, int n) {
    __shared__ float s[32][33];
    int i = threadIdx.x;
    for (int j = 0; j < n; ++j) s[j][i] = a[j * n + i];
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        if (i == k) s[k][k] = sqrtf(s[k][k]);
        __syncthreads();
        if (i > k) s[i][k] /= s[k][k];
        __syncthreads();
        for (int j = k + 1; j <= i; ++j) s[i][j] -= s[i][k] * s[j][k];
        __syncthreads();
    }
    for (int j = 0; j <= i; ++j) a[i * n + j] = s[i][j];
}

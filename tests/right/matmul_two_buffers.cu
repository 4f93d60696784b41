// A tiled product: the next pair of tiles is loaded into the other buffer while this one is used, so one barrier per
// step is enough.
//> a = ck.asarray(floats(40 * 56).reshape(40, 56)); b = ck.asarray(floats(56 * 24).reshape(56, 24))
//> c = ck.empty((40, 24), "f4"); kernel[(2, 3), (16, 16)](a, b, c, 40, 24, 56)
//= np.testing.assert_allclose(c.get(), a.get() @ b.get(), rtol=1e-4)
__global__ void right(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[2][16][16], bs[2][16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    auto load = [&](int buffer, int start) {
        as[buffer][ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0;
        bs[buffer][ty][tx] = column < n && start + ty < k ? b[(start + ty) * n + column] : 0;
    };
    float sum = 0;
    load(0, 0);
    __syncthreads();
    for (int start = 0, now = 0; start < k; start += 16, now ^= 1) {
        if (start + 16 < k) load(now ^ 1, start + 16);
        for (int i = 0; i < 16; ++i) sum += as[now][ty][i] * bs[now][i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

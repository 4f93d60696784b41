// A blur of 5 x 5 pixels: more threads than results, and each loads one pixel of the tile.
//> a = ck.asarray(ints(40 * 50).reshape(40, 50).astype("u1")); b = ck.empty((40, 50), "u1")
//> kernel[(5, 4), (16, 16)](a, b, 50, 40)
//= h = np.pad(a.get().astype(int), 2, mode="edge")
//= e = sum(h[i : i + 40, j : j + 50] for i in range(5) for j in range(5)) // 25
//= np.testing.assert_array_equal(b.get(), e)
__global__ void right(const unsigned char *a, unsigned char *b, int width, int height) {
    __shared__ unsigned char tile[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 12 + tx - 2, y = blockIdx.y * 12 + ty - 2;
    int cx = min(max(x, 0), width - 1), cy = min(max(y, 0), height - 1);
    tile[ty][tx] = a[cy * width + cx];
    __syncthreads();
    if (tx < 2 || tx >= 14 || ty < 2 || ty >= 14 || x >= width || y >= height) return;
    int sum = 0;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) sum += tile[ty + dy][tx + dx];
    b[y * width + x] = static_cast<unsigned char>(sum / 25);
}

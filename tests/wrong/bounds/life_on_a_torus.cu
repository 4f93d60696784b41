// On a torus, left of column 0 is the last column. In C the remainder of -1 is -1, not width - 1.
//> cells = ck.asarray(ints(24 * 24).reshape(24, 24).astype("u1") % 2); out = ck.empty((24, 24), "u1")
//> kernel[(3, 3), (8, 8)](cells, out, 24)
//= h = cells.get(); n = sum(np.roll(h, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - h
//= np.testing.assert_array_equal(out.get(), (n == 3) | (h == 1) & (n == 2))
__global__ void wrong(const unsigned char *cells, unsigned char *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            alive += cells[(y + dy) % n * n + (x + dx) % n]; //! bounds cells[-25]
        }
    int self = cells[y * n + x];
    out[y * n + x] = alive - self == 3 || (self && alive - self == 2);
}

__global__ void right(const unsigned char *cells, unsigned char *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) alive += cells[(y + dy + n) % n * n + (x + dx + n) % n];
    int self = cells[y * n + x];
    out[y * n + x] = alive - self == 3 || (self && alive - self == 2);
}

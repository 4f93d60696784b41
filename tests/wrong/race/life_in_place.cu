// The next generation replaces the current one cell by cell, while neighbours are still counted.
//> a = ck.asarray(ints(256).reshape(16, 16).astype("u1") % 2); h = a.get(); b = ck.empty((16, 16), "u1")
//> kernel[(2, 2), (8, 8)](a, b, 16)
//= n = sum(np.roll(h, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - h
//= np.testing.assert_array_equal(b.get(), (n == 3) | (h == 1) & (n == 2))
__global__ void wrong(unsigned char *a, unsigned char *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int k = 0; k < 9; ++k) alive += a[(y + n - 1 + k / 3) % n * n + (x + n - 1 + k % 3) % n]; //! race
    bool lives = a[y * n + x] ? alive == 3 || alive == 4 : alive == 3;
    a[y * n + x] = lives; //! race
}

__global__ void right(unsigned char *a, unsigned char *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int k = 0; k < 9; ++k) alive += a[(y + n - 1 + k / 3) % n * n + (x + n - 1 + k % 3) % n];
    bool lives = a[y * n + x] ? alive == 3 || alive == 4 : alive == 3;
    b[y * n + x] = lives;
}

// Two warps meet at barrier 1, but one of them waits for 64 threads and the other one for 96.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[1, 96](x, y)
//= np.testing.assert_array_equal(y.get(), np.roll(x.get(), 32))
__global__ void wrong(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t >= 64) return;
    tile[t] = x[t];
    if (t < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); //! barrier
    else
        asm volatile("bar.sync 1, 96;" ::: "memory"); //! barrier
    y[t] = tile[t ^ 32];
}

__global__ void right(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t >= 64) return;
    tile[t] = x[t];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[t] = tile[t ^ 32];
}

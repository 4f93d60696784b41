// Lanes 16 to 31 call the vote with a mask that does not name them.
//> x = ck.asarray(ints(32)); y = ck.empty(32, "u4"); kernel[1, 32](x, y)
//= h = x.get() > 40; e = [int(sum(1 << i for i in range(a, a + 16) if h[i])) for a in (0, 16)]
//= np.testing.assert_array_equal(y.get(), np.repeat(e, 16).astype("u4"))
__global__ void wrong(const int *x, unsigned *y) {
    y[threadIdx.x] = __ballot_sync(0x0000ffff, x[threadIdx.x] > 40); //! warp
}

__global__ void right(const int *x, unsigned *y) {
    unsigned mask = threadIdx.x < 16 ? 0x0000ffff : 0xffff0000;
    y[threadIdx.x] = __ballot_sync(mask, x[threadIdx.x] > 40);
}

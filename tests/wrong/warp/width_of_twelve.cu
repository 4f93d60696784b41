// The width of a shuffle must be a power of two; groups of twelve lanes do not exist.
//> x = ck.asarray(ints(32)); y = ck.empty(32, "i4"); kernel[1, 32](x, y)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(4, 8)[:, :1].repeat(8, 1).ravel())
__global__ void wrong(const int *x, int *y) {
    y[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 0, 12); //! warp
}

__global__ void right(const int *x, int *y) {
    y[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 0, 8);
}

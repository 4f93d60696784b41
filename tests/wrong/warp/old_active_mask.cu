// The mask is computed before the branch: it names lanes that do not take the branch.
//> x = ck.asarray(ints(32)); y = ck.zeros(32, "i4"); kernel[1, 32](x, y)
//= h = x.get(); odd = np.flatnonzero(h % 2); np.testing.assert_array_equal(y.get(), np.where(h % 2, h[odd[0]], 0))
__global__ void wrong(const int *x, int *y) {
    unsigned mask = __activemask();
    int value = x[threadIdx.x], got = 0;
    if (value % 2) got = __shfl_sync(mask, value, __ffs(mask) - 1); //! warp
    __syncthreads();
    y[threadIdx.x] = got;
}

__global__ void right(const int *x, int *y) {
    int value = x[threadIdx.x], got = 0;
    unsigned mask = __ballot_sync(0xffffffff, value % 2);
    if (value % 2) got = __shfl_sync(mask, value, __ffs(mask) - 1);
    __syncthreads();
    y[threadIdx.x] = got;
}

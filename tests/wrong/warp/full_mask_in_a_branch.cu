// The mask names all 32 lanes, but only 16 of them take the branch; the others wait at the block's barrier.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[2, 32](x, y)
//= h = x.get().reshape(2, 32); e = h.copy(); e[:, :16] = np.roll(h[:, :16], -1, 1)
//= np.testing.assert_array_equal(y.get(), e.ravel())
__global__ void wrong(const int *x, int *y) {
    int i = blockIdx.x * 32 + threadIdx.x, value = x[i];
    if (threadIdx.x < 16) value = __shfl_sync(0xffffffff, value, (threadIdx.x + 1) % 16); //! warp
    __syncthreads();
    y[i] = value;
}

__global__ void right(const int *x, int *y) {
    int i = blockIdx.x * 32 + threadIdx.x, value = x[i];
    if (threadIdx.x < 16) value = __shfl_sync(0x0000ffff, value, (threadIdx.x + 1) % 16);
    __syncthreads();
    y[i] = value;
}

// All threads write and fence, then meet at a barrier, and one of them counts the block; the last block reads all.
//> x = ck.asarray(ints(1024)); y = ck.empty(1024, "i4"); count = ck.zeros(1, "u4"); z = ck.empty(1024, "i4")
//> kernel[4, 256](x, y, count, z)
//= np.testing.assert_array_equal(z.get(), 2 * x.get()[::-1])
__global__ void right(const int *x, int *y, unsigned *count, int *z) {
    __shared__ unsigned ticket;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    y[i] = 2 * x[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicAdd(count, 1u);
    __syncthreads();
    if (ticket != gridDim.x - 1) return;
    __threadfence();
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) z[j] = y[n - 1 - j];
}

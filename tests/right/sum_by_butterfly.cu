// A sum that all threads get: __shfl_xor_sync within warps; each warp adds the sums of all warps.
//> x = ck.asarray(ints(512)); y = ck.empty(512, "i4"); kernel[2, 256](x, y)
//= np.testing.assert_array_equal(y.get(), np.repeat(x.get().reshape(2, 256).sum(1), 256))
__global__ void right(const int *x, int *y) {
    __shared__ int sums[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int value = x[i];
#pragma unroll
    for (int bit = 1; bit < 32; bit <<= 1) value += __shfl_xor_sync(~0u, value, bit);
    if (lane == 0) sums[threadIdx.x >> 5] = value;
    __syncthreads();
    int total = sums[lane & 7];
    total += __shfl_xor_sync(~0u, total, 4, 8);
    total += __shfl_xor_sync(~0u, total, 2, 8);
    total += __shfl_xor_sync(~0u, total, 1, 8);
    y[i] = total;
}

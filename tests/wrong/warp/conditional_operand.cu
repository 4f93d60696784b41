// The last lane has no neighbour, so it does not call the shuffle; but the mask names it, and lane 30 reads from it.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[2, 32](x, y)
//= h = x.get().reshape(2, 32); np.testing.assert_array_equal(y.get().reshape(2, 32), np.diff(h, append=h[:, -1:]))
__global__ void wrong(const int *x, int *y) {
    int lane = threadIdx.x, i = blockIdx.x * 32 + lane, value = x[i];
    int next = lane < 31 ? __shfl_down_sync(0xffffffff, value, 1) : value; //! warp
    __syncthreads();
    y[i] = next - value;
}

__global__ void right(const int *x, int *y) {
    int i = blockIdx.x * 32 + threadIdx.x, value = x[i];
    int next = __shfl_down_sync(0xffffffff, value, 1); // the last lane gets its own value
    __syncthreads();
    y[i] = next - value;
}

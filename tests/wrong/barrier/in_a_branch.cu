// Only the first half of the block comes to the barrier in the branch; the others wait at a later one. (Threads that
// have ended need not come, as in the right twin.)
//> x = ck.asarray(ints(256)); y = ck.empty(128, "i4"); kernel[1, 256](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[:128][::-1])
__global__ void wrong(const int *x, int *y) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    if (t < 128) {
        tile[t] = x[t];
        __syncthreads(); //! barrier
        y[t] = tile[127 - t];
    }
    __syncthreads(); //! barrier
}

__global__ void right(const int *x, int *y) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    if (t >= 128) return;
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[127 - t];
}

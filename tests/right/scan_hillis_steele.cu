// An inclusive scan in place, in log2(n) steps: barriers between the reads and the writes of each step.
//> x = ck.asarray(ints(300)); y = ck.empty(300, "i4"); kernel[1, 512](x, y, 300)
//= np.testing.assert_array_equal(y.get(), np.cumsum(x.get()))
__global__ void right(const int *x, int *y, int n) {
    __shared__ int sums[512];
    int t = threadIdx.x;
    sums[t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        int other = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    if (t < n) y[t] = sums[t];
}

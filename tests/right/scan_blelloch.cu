// An exclusive scan: up a tree and down again, two elements per thread, with padding against bank conflicts.
//> x = ck.asarray(ints(512)); y = ck.empty(512, "i4"); kernel[1, 256](x, y)
//= np.testing.assert_array_equal(y.get(), np.cumsum(x.get()) - x.get())
#define PADDED(i) ((i) + ((i) >> 5))

__global__ void right(const int *x, int *y) {
    __shared__ int tree[PADDED(512)];
    int t = threadIdx.x, n = 2 * blockDim.x, step = 1;
    tree[PADDED(t)] = x[t];
    tree[PADDED(t + n / 2)] = x[t + n / 2];
    for (int d = n >> 1; d > 0; d >>= 1, step *= 2) {
        __syncthreads();
        if (t < d) tree[PADDED(step * (2 * t + 2) - 1)] += tree[PADDED(step * (2 * t + 1) - 1)];
    }
    if (t == 0) tree[PADDED(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t >= d) continue;
        int left = PADDED(step * (2 * t + 1) - 1), right = PADDED(step * (2 * t + 2) - 1);
        int kept = tree[left];
        tree[left] = tree[right];
        tree[right] += kept;
    }
    __syncthreads();
    y[t] = tree[PADDED(t)];
    y[t + n / 2] = tree[PADDED(t + n / 2)];
}

// Run-length encoding by a block: heads of runs, their places by a scan, lengths from the difference of the starts.
//> x = ck.asarray(np.sort(ints(256)) // 9); v = ck.empty(256, "i4"); c = ck.empty(256, "i4"); n = ck.empty(1, "i4")
//> kernel[1, 256](x, v, c, n)
//= k = int(n[0].get()); e = np.unique(x.get(), return_counts=True)
//= np.testing.assert_array_equal([v.get()[:k], c.get()[:k]], e)
__global__ void right(const int *x, int *values, int *counts, int *n) {
    __shared__ int places[256], starts[257];
    int t = threadIdx.x, is_head = t == 0 || x[t] != x[t - 1];
    places[t] = is_head;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int other = t >= d ? places[t - d] : 0;
        __syncthreads();
        places[t] += other;
        __syncthreads();
    }
    int runs = places[255];
    if (is_head) starts[places[t] - 1] = t;
    if (t == 0) {
        starts[runs] = 256;
        *n = runs;
    }
    __syncthreads();
    if (t >= runs) return;
    values[t] = x[starts[t]];
    counts[t] = starts[t + 1] - starts[t];
}

// Each thread iterates until its own value has converged, with a barrier in each step: they leave the loop at
// different times. Here all must go on until all have finished.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[1, 64](x, y)
//= np.testing.assert_array_equal(y.get(), x.get().max())
__global__ void wrong(const int *x, int *y) {
    __shared__ int best[64];
    int t = threadIdx.x;
    best[t] = x[t];
    __syncthreads();
    for (bool changed = true; changed;) {
        int next = max(best[t], best[(t + 1) % 64]);
        __syncthreads(); //! barrier
        changed = next != best[t];
        best[t] = next;
        __syncthreads(); //! barrier
    }
    __syncthreads(); //! barrier
    y[t] = best[0];
}

__global__ void right(const int *x, int *y) {
    __shared__ int best[64];
    int t = threadIdx.x;
    best[t] = x[t];
    __syncthreads();
    for (bool changed = true; changed;) {
        int next = max(best[t], best[(t + 1) % 64]);
        __syncthreads();
        int before = best[t];
        best[t] = next;
        changed = __syncthreads_or(next != before);
    }
    y[t] = best[0];
}

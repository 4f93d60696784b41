// The last warp adds without any barrier, as was common before Volta. Lanes no longer run in lockstep, and volatile
// does not make one wait for another.
//> x = ck.asarray(ints(64)); total = ck.empty(1, "i4"); kernel[1, 64](x, total)
//= assert total[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *total) {
    __shared__ int cache[64];
    int t = threadIdx.x;
    cache[t] = x[t];
    __syncthreads();
    if (t < 32) {
        volatile int *v = cache;
        for (int s = 32; s > 0; s /= 2) v[t] = v[t] + v[t + s]; //! race
        if (t == 0) *total = cache[0];
    }
}

__global__ void right(const int *x, int *total) {
    __shared__ int cache[64];
    int t = threadIdx.x;
    cache[t] = x[t];
    __syncthreads();
    if (t < 32) {
        int sum = cache[t] + cache[t + 32];
        for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
        if (t == 0) *total = sum;
    }
}

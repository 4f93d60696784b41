// Block 0 produces rounds of data, block 1 consumes them: a flag each way, with fences. Both are resident.
//> x = ck.asarray(ints(128)); buffer = ck.empty(32, "i4"); flags = ck.zeros(2, "i4"); y = ck.empty(128, "i4")
//> kernel(2, 32, x, buffer, flags, y, cooperative=True)
//= np.testing.assert_array_equal(y.get(), x.get() + 1)
__device__ void await(volatile int *flag, int value) {
    if (threadIdx.x == 0)
        while (*flag < value) {}
    __syncthreads();
    __threadfence();
}

__device__ void announce(int *flag) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(flag, 1);
    }
}

__global__ void right(const int *x, int *buffer, int *flags, int *y) {
    int t = threadIdx.x;
    for (int round = 0; round < 4; ++round) {
        if (blockIdx.x == 0) {
            await(&flags[1], round);
            buffer[t] = x[32 * round + t] + 1;
            announce(&flags[0]);
        } else {
            await(&flags[0], round + 1);
            y[32 * round + t] = buffer[t];
            announce(&flags[1]);
        }
    }
}

// A barrier of all resident blocks, written with an atomic counter whose top bit changes with each round.
//> x = ck.asarray(ints(128)); y = ck.empty(128, "i4"); state = ck.zeros(1, "u4")
//> kernel(4, 32, x, y, state, cooperative=True)
//= np.testing.assert_array_equal(y.get(), 4 * np.roll(x.get(), -64))
__device__ void sync_grid(unsigned *state) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned step = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
        unsigned before = atomicAdd(state, step);
        while (((before ^ atomicAdd(state, 0)) & 0x80000000u) == 0) {}
        __threadfence();
    }
    __syncthreads();
}

__global__ void right(int *x, int *y, unsigned *state) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
    sync_grid(state);
    int far = y[(i + n / 2) % n];
    sync_grid(state);
    y[i] = 2 * far;
}

// Every thread replaces its element by its neighbour's, which the neighbour may already have replaced.
//> x = ck.asarray(ints(128)); h = x.get(); kernel[1, 128](x, 3)
//= np.testing.assert_array_equal(x.get(), np.roll(h, -3))
__global__ void wrong(int *x, int times) {
    __shared__ int ring[128];
    int t = threadIdx.x;
    ring[t] = x[t];
    __syncthreads();
    for (int i = 0; i < times; ++i) {
        ring[t] = ring[(t + 1) % 128]; //! race
        __syncthreads();
    }
    x[t] = ring[t];
}

__global__ void right(int *x, int times) {
    __shared__ int ring[128];
    int t = threadIdx.x;
    ring[t] = x[t];
    __syncthreads();
    for (int i = 0; i < times; ++i) {
        int next = ring[(t + 1) % 128];
        __syncthreads();
        ring[t] = next;
        __syncthreads();
    }
    x[t] = ring[t];
}

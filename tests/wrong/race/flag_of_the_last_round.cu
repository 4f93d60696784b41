// A loop runs until nothing changes. Thread 0 clears the flag for the next round, while others may still have to look
// at it.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[1, 64](x, y)
//= assert not y.get().any()
__global__ void wrong(const int *x, int *y) {
    __shared__ int has_changed;
    int value = x[threadIdx.x];
    do {
        if (threadIdx.x == 0) has_changed = 0; //! race
        __syncthreads();
        if (value > 0) {
            value /= 2;
            atomicExch(&has_changed, 1);
        }
        __syncthreads();
    } while (has_changed); //! race
    y[threadIdx.x] = value;
}

__global__ void right(const int *x, int *y) {
    int value = x[threadIdx.x], has_changed;
    do {
        has_changed = value > 0;
        value /= 2;
    } while (__syncthreads_or(has_changed));
    y[threadIdx.x] = value;
}

// The first block's flag says that its table is complete, but its memory order is "relaxed": the other blocks may see
// the flag first and the table later.
//> x = ck.asarray(floats(64)); table = ck.empty(64, "f4"); flag = ck.zeros(1, "i4"); y = ck.zeros(256, "f4")
//> kernel[4, 64](x, table, flag, y)
//= np.testing.assert_array_equal(y.get()[64:], np.tile(np.sqrt(x.get())[::-1], 3))
#include <cuda/atomic>

__global__ void wrong(const float *x, float *table, int *flag, float *y) {
    int t = threadIdx.x;
    cuda::atomic_ref<int> is_complete(*flag);
    if (blockIdx.x == 0) {
        table[t] = sqrtf(x[t]); //! race
        __syncthreads();
        if (t == 0) is_complete.store(1, cuda::memory_order_relaxed);
        return;
    }
    while (!is_complete.load(cuda::memory_order_acquire)) {}
    y[blockIdx.x * 64 + t] = table[63 - t]; //! race
}

__global__ void right(const float *x, float *table, int *flag, float *y) {
    int t = threadIdx.x;
    cuda::atomic_ref<int> is_complete(*flag);
    if (blockIdx.x == 0) {
        table[t] = sqrtf(x[t]);
        __syncthreads();
        if (t == 0) is_complete.store(1, cuda::memory_order_release);
        return;
    }
    while (!is_complete.load(cuda::memory_order_acquire)) {}
    y[blockIdx.x * 64 + t] = table[63 - t];
}

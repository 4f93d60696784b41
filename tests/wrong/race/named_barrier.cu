// One warp only announces that it has come to the numbered barrier and does not wait there, although it is the warp
// that reads what the other one writes.
//> x = ck.asarray(ints(32)); y = ck.empty(32, "i4"); kernel[1, 64](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[::-1])
__global__ void wrong(const int *x, int *y) {
    __shared__ int box[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        box[lane] = x[lane]; //! race
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        y[lane] = box[31 - lane]; //! race
    }
}

__global__ void right(const int *x, int *y) {
    __shared__ int box[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        box[lane] = x[lane];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[lane] = box[31 - lane];
    }
}

// The flag is stored with "release", but loaded with "relaxed": the second block may read the data before the flag.
//> x = ck.asarray(floats(64)); box = ck.empty(64, "f4"); flag = ck.zeros(1, "u4"); y = ck.empty(64, "f4")
//> kernel[2, 64](x, box, flag, y)
//= np.testing.assert_array_equal(y.get(), 2 * x.get())
__device__ unsigned load_relaxed(const unsigned *flag) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ unsigned load_acquire(const unsigned *flag) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ void store_release(unsigned *flag, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

__global__ void wrong(const float *x, float *box, unsigned *flag, float *y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = 2 * x[t]; //! race
        __syncthreads();
        if (t == 0) store_release(flag, 1);
    } else {
        while (load_relaxed(flag) == 0) {}
        y[t] = box[t]; //! race
    }
}

__global__ void right(const float *x, float *box, unsigned *flag, float *y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = 2 * x[t];
        __syncthreads();
        if (t == 0) store_release(flag, 1);
    } else {
        while (load_acquire(flag) == 0) {}
        y[t] = box[t];
    }
}

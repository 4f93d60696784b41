// An atomic addition of doubles and a maximum of floats, by loops with compare-and-swap.
//> x = ck.asarray(floats(200)); y = ck.zeros(1, "f8"); z = ck.zeros(1, "f4"); kernel[2, 100](x, y, z)
//= np.testing.assert_allclose(y[0].get(), x.get().astype("f8").sum()); assert z[0].get() == x.get().max()
__device__ void add(double *to, double value) {
    auto *bits = reinterpret_cast<unsigned long long *>(to);
    unsigned long long old = *static_cast<volatile unsigned long long *>(bits), assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
}

__device__ void keep_larger(float *to, float value) {
    int *bits = reinterpret_cast<int *>(to), old = atomicAdd(bits, 0);
    while (__int_as_float(old) < value) {
        int assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
}

__global__ void right(const float *x, double *y, float *z) {
    float value = x[blockIdx.x * blockDim.x + threadIdx.x];
    add(y, value);
    keep_larger(z, value);
}

// Bitonic sort of 32 keys in registers, by shuffles.
//> x = ck.asarray(floats(96)); kernel[1, 96](x)
//= np.testing.assert_array_equal(x.get(), np.sort(x.get().reshape(3, 32), 1).ravel())
__global__ void right(float *x) {
    int lane = threadIdx.x % 32;
    float key = x[threadIdx.x];
    for (int k = 2; k <= 32; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            float other = __shfl_xor_sync(0xffffffff, key, j);
            bool ascending = (lane & k) == 0, is_lower = (lane & j) == 0;
            key = ascending == is_lower ? fminf(key, other) : fmaxf(key, other);
        }
    x[threadIdx.x] = key;
}

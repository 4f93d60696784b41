// 1002 floats are 250 vectors of four and two floats more: the last vector lies only half inside the array.
//> x = ck.asarray(floats(1002)); total = ck.zeros(1, "f4")
//> kernel[1, 256](x, total, 1002)
//= np.testing.assert_allclose(total.get(), x.get().sum(), rtol=1e-4)
__global__ void wrong(const float *x, float *total, int n) {
    int i = threadIdx.x;
    if (i < (n + 3) / 4) {
        float4 v = reinterpret_cast<const float4 *>(x)[i]; //! bounds x[1002]
        atomicAdd(total, v.x + v.y + v.z + v.w);
    }
}

__global__ void right(const float *x, float *total, int n) {
    int i = threadIdx.x;
    if (i < n / 4) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        atomicAdd(total, v.x + v.y + v.z + v.w);
    }
    if (i < n % 4) atomicAdd(total, x[n / 4 * 4 + i]);
}

// 1002 floats are 250 vectors of four and two floats more: the last vector lies only half inside the array.
//> x = ck.asarray(floats(1002)); y = ck.empty(1002, "f4"); kernel[1, 256](x, y, 1002)
//= np.testing.assert_array_equal(y.get(), x.get())
__global__ void wrong(const float *x, float *y, int n) {
    int i = threadIdx.x;
    if (i < (n + 3) / 4) {
        reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i]; //! bounds x[1002], y[1002]
    }
}

__global__ void right(const float *x, float *y, int n) {
    int i = threadIdx.x;
    if (i < n / 4) {
        reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i];
    }
    int rest = n / 4 * 4 + i;
    if (rest < n) y[rest] = x[rest];
}

// A float4 must lie at a multiple of 16 bytes; x + 1 does not.
//> x = ck.asarray(floats(129)); y = ck.empty(128, "f4"); kernel[1, 32](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[1:])
__global__ void wrong(const float *x, float *y) {
    reinterpret_cast<float4 *>(y)[threadIdx.x] = reinterpret_cast<const float4 *>(x + 1)[threadIdx.x]; //! misaligned
}

__global__ void right(const float *x, float *y) {
    const float *from = x + 1 + 4 * threadIdx.x;
    reinterpret_cast<float4 *>(y)[threadIdx.x] = make_float4(from[0], from[1], from[2], from[3]);
}

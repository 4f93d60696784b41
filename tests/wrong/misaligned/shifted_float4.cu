// A float4 must lie at a multiple of 16 bytes; x + 1 does not.
//> x = ck.asarray(floats(129)); y = ck.empty(128, "f4"); kernel[1, 32](x, y)
//= np.testing.assert_array_equal(y.get(), 3 * x.get()[1:])
__global__ void wrong(const float *x, float *y) {
    float4 v = reinterpret_cast<const float4 *>(x + 1)[threadIdx.x]; //! misaligned
    v.x *= 3, v.y *= 3, v.z *= 3, v.w *= 3;
    reinterpret_cast<float4 *>(y)[threadIdx.x] = v;
}

__global__ void right(const float *x, float *y) {
    const float *p = x + 1 + 4 * threadIdx.x;
    float4 v = make_float4(p[0], p[1], p[2], p[3]);
    v.x *= 3, v.y *= 3, v.z *= 3, v.w *= 3;
    reinterpret_cast<float4 *>(y)[threadIdx.x] = v;
}

// A Fourier transform of 128 points: bits reversed on the way in, one butterfly per thread and step.
//> x = ck.asarray(floats(256).reshape(128, 2)); y = ck.empty((128, 2), "f4"); kernel[1, 64](x, y)
//= h = np.fft.fft(x.get() @ [1, 1j]); np.testing.assert_allclose(y.get() @ [1, 1j], h, rtol=1e-3, atol=1e-3)
__global__ void right(const float *x, float *y) {
    __shared__ float2 z[128];
    int t = threadIdx.x;
    const float2 *from = reinterpret_cast<const float2 *>(x);
    for (int i = t; i < 128; i += blockDim.x) z[__brev(i) >> 25] = from[i];
    for (int half = 1; half < 128; half *= 2) {
        __syncthreads();
        int j = t & (half - 1), low = 2 * (t - j) + j, high = low + half;
        float s, c;
        sincospif(-static_cast<float>(j) / half, &s, &c);
        float2 a = z[low], b = z[high], w = {c * b.x - s * b.y, c * b.y + s * b.x};
        z[low] = make_float2(a.x + w.x, a.y + w.y);
        z[high] = make_float2(a.x - w.x, a.y - w.y);
    }
    __syncthreads();
    float2 *to = reinterpret_cast<float2 *>(y);
    to[t] = z[t];
    to[t + 64] = z[t + 64];
}

// Two buffers take turns. The kernel never writes the borders, so the second one has none when it is read.
//> a = ck.asarray(floats(66)); h = a.get(); b = ck.empty(66, "f4")
//> kernel[1, 96](a, b, 66); kernel[1, 96](b, a, 66)
//= for _ in "ab": h[1:-1] = (h[:-2] + h[2:]) / 2
//= np.testing.assert_allclose(a.get(), h, rtol=1e-5)
__global__ void wrong(const float *in, float *out, int n) {
    int i = threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i + 1]) / 2; //! uninitialised b[0]
}

__global__ void right(const float *in, float *out, int n) {
    int i = threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i + 1]) / 2;
    if (i == 0 || i == n - 1) out[i] = in[i];
}

// Heat flows from four neighbours. Columns at the edge are left out, rows at the edge are not.
//> t = ck.asarray(floats(24 * 30).reshape(24, 30)); out = t.copy()
//> kernel[(2, 3), (16, 8)](t, out, 30, 24)
//= h = t.get(); e = h.copy()
//= e[1:-1, 1:-1] = (h[:-2, 1:-1] + h[2:, 1:-1] + h[1:-1, :-2] + h[1:-1, 2:]) / 4
//= np.testing.assert_allclose(out.get(), e, rtol=1e-5)
__global__ void wrong(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int i = y * width + x;
    if (x > 0 && x < width - 1 && y < height) {
        out[i] = (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]) / 4; //! bounds in[-29]
    }
}

__global__ void right(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int i = y * width + x;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        out[i] = (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]) / 4;
    }
}

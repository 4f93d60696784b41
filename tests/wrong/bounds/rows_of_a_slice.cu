// The kernel gets rows 8 to 23 of an image and also blurs over the rows next to these, which are not its own: they
// belong to the same allocation, and another kernel may be changing them.
//> image = ck.asarray(floats(32 * 40).reshape(32, 40)); part = image[8:24]; out = ck.empty((16, 40), "f4")
//> kernel[(2, 2), (32, 8)](part, out, 40, 16)
//= h = np.pad(part.get(), ((1, 1), (0, 0)), "edge")
//= np.testing.assert_allclose(out.get(), (h[:-2] + h[1:-1] + h[2:]) / 3, rtol=1e-6)
__global__ void wrong(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float above = in[(y - 1) * width + x]; //! bounds in[-40]
    int next = y + 1 < height ? y + 1 : y;
    out[y * width + x] = (above + in[y * width + x] + in[next * width + x]) / 3;
}

__global__ void right(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int before = y > 0 ? y - 1 : y, next = y + 1 < height ? y + 1 : y;
    out[y * width + x] = (in[before * width + x] + in[y * width + x] + in[next * width + x]) / 3;
}

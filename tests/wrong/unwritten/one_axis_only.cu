// A picture of 40 x 24 pixels needs blocks along both axes; the launch has them along x only.
//> x = ck.asarray(ints(960).astype("u1")); y = ck.empty(960, "u1"); grid = (3, 1) if twin == "wrong" else (3, 2)
//> kernel[grid, (16, 16)](x, y, 40, 24) //! unwritten y[640]
//= np.testing.assert_array_equal(y.get(), 255 - x.get())
__global__ void wrong(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = 255 - in[y * width + x];
}

__global__ void right(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = 255 - in[y * width + x];
}

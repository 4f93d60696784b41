// x and y are swapped in the index, which is noticed only because the picture is not square.
//> rgb = ck.asarray(ints(32 * 48 * 3).astype("u1").reshape(32, 48, 3)); gray = ck.empty((32, 48), "u1")
//> kernel[(3, 4), (16, 8)](rgb, gray, 48, 32)
//= np.testing.assert_array_equal(gray.get(), rgb.get().astype(int).sum(2) // 3)
struct Pixel {
    unsigned char r, g, b;
};

__global__ void wrong(const Pixel *rgb, unsigned char *gray, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Pixel p = rgb[x * width + y]; //! bounds rgb[1536]
    gray[y * width + x] = (p.r + p.g + p.b) / 3;
}

__global__ void right(const Pixel *rgb, unsigned char *gray, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Pixel p = rgb[y * width + x];
    gray[y * width + x] = (p.r + p.g + p.b) / 3;
}

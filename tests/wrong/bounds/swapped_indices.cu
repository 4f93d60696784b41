// x and y are swapped in the index, which is noticed only because the picture is not square.
//> rgb = ck.asarray(ints(32 * 48 * 3).astype("u1").reshape(32, 48, 3)); gray = ck.empty((32, 48), "u1")
//> kernel[(3, 4), (16, 8)](rgb, gray, 48, 32)
//= np.testing.assert_array_equal(gray.get(), rgb.get().astype(int).sum(2) // 3)
__global__ void wrong(const unsigned char *rgb, unsigned char *gray, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const unsigned char *pixel = rgb + 3 * (x * width + y);
    gray[y * width + x] = (pixel[0] + pixel[1] + pixel[2]) / 3; //! bounds rgb[4608]
}

__global__ void right(const unsigned char *rgb, unsigned char *gray, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const unsigned char *pixel = rgb + 3 * (y * width + x);
    gray[y * width + x] = (pixel[0] + pixel[1] + pixel[2]) / 3;
}

// Column 32 of a row is column 0 of the next row: still inside the shared tile, but not what was meant.
//> m = ck.asarray(floats(32 * 32).reshape(32, 32)); slope = ck.zeros((32, 32), "f4")
//> kernel[1, (32, 16)](m, slope)
//= h = m.get(); expected = np.zeros_like(h); expected[:, :-1] = np.diff(h)
//= np.testing.assert_array_equal(slope.get()[:31], expected[:31])
__global__ void wrong(const float *m, float *slope) {
    __shared__ float tile[32][32];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) tile[y][x] = m[y * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 31; y += blockDim.y) {
        slope[y * 32 + x] = tile[y][x + 1] - tile[y][x]; //! bounds tile[0][32]
    }
}

__global__ void right(const float *m, float *slope) {
    __shared__ float tile[32][32];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) tile[y][x] = m[y * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 31; y += blockDim.y) {
        if (x < 31) slope[y * 32 + x] = tile[y][x + 1] - tile[y][x];
    }
}

// Lanes exchange values through shared memory without __syncwarp between the write and the read.
//> x = ck.asarray(floats(64)); y = ck.empty(64, "f4"); kernel[1, 64](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[np.arange(64) ^ 1])
__global__ void wrong(const float *x, float *y) {
    __shared__ float pairs[2][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    pairs[warp][lane] = x[threadIdx.x];     //! race
    y[threadIdx.x] = pairs[warp][lane ^ 1]; //! race
}

__global__ void right(const float *x, float *y) {
    __shared__ float pairs[2][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    pairs[warp][lane] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = pairs[warp][lane ^ 1];
}

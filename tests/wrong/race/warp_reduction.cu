// The steps of a tree within one warp are not separated by __syncwarp.
//> x = ck.asarray(floats(128)); y = ck.empty(4, "f4"); kernel[4, 32](x, y)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(4, 32).max(1))
__global__ void wrong(const float *x, float *y) {
    __shared__ float values[32];
    int lane = threadIdx.x;
    values[lane] = x[blockIdx.x * 32 + lane];
    __syncwarp();
    for (int s = 16; s > 0; s /= 2)
        if (lane < s) values[lane] = fmaxf(values[lane], values[lane + s]); //! race
    if (lane == 0) y[blockIdx.x] = values[0];
}

__global__ void right(const float *x, float *y) {
    __shared__ float values[32];
    int lane = threadIdx.x;
    values[lane] = x[blockIdx.x * 32 + lane];
    __syncwarp();
    for (int s = 16; s > 0; s /= 2) {
        if (lane < s) values[lane] = fmaxf(values[lane], values[lane + s]);
        __syncwarp();
    }
    if (lane == 0) y[blockIdx.x] = values[0];
}

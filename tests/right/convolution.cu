// A convolution with weights in constant memory and a tile with a halo on both sides.
//> x = ck.asarray(floats(300)); y = ck.empty(300, "f4"); kernel[3, 128](x, y, 300)
//= np.testing.assert_allclose(y.get(), np.convolve(x.get(), [1, 2, 3, 4, 3, 2, 1], "same"), rtol=1e-5)
#define RADIUS 3
__constant__ float weights[2 * RADIUS + 1] = {1, 2, 3, 4, 3, 2, 1};

__global__ void right(const float *__restrict__ x, float *__restrict__ y, int n) {
    __shared__ float tile[128 + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + RADIUS;
    tile[t] = i < n ? x[i] : 0;
    if (threadIdx.x < RADIUS) {
        tile[t - RADIUS] = i >= RADIUS ? x[i - RADIUS] : 0;
        tile[t + blockDim.x] = i + blockDim.x < n ? __ldg(&x[i + blockDim.x]) : 0;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    for (int j = -RADIUS; j <= RADIUS; ++j) sum += weights[j + RADIUS] * tile[t + j];
    y[i] = sum;
}

// Softmax of rows: the largest element and the sum, both reduced in the same shared memory.
//> x = ck.asarray(floats(5 * 200).reshape(5, 200)); y = ck.empty((5, 200), "f4"); kernel[5, 128](x, y, 200)
//= e = np.exp(x.get()); np.testing.assert_allclose(y.get(), e / e.sum(1, keepdims=True), rtol=1e-5)
template <typename F> __device__ float reduce(float value, F combine) {
    __shared__ float values[128];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int s = blockDim.x >> 1; s; s >>= 1) {
        if (threadIdx.x < s) values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + s]);
        __syncthreads();
    }
    float result = values[0];
    __syncthreads(); // before the next reduction
    return result;
}

__global__ void right(const float *x, float *y, int n) {
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    auto larger = [](float a, float b) { return fmaxf(a, b); };
    auto plus = [](float a, float b) { return a + b; };
    float largest = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) largest = fmaxf(largest, x[i]);
    largest = reduce(largest, larger);
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += y[i] = expf(x[i] - largest);
    sum = reduce(sum, plus);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] /= sum;
}

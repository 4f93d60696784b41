// Mean and variance of rows in one pass, by Welford's method, combined with shuffles and shared memory.
//> x = ck.asarray(floats(4 * 300).reshape(4, 300)); y = ck.empty((4, 300), "f4"); kernel[4, 96](x, y, 300)
//= h = x.get(); e = (h - h.mean(1, keepdims=True)) / h.std(1, keepdims=True)
//= np.testing.assert_allclose(y.get(), e, rtol=1e-3, atol=1e-4)
struct moments {
    float mean = 0, m2 = 0, count = 0;
    __device__ void add(const moments &b) {
        float all = count + b.count, delta = b.mean - mean;
        if (all == 0) return;
        mean += delta * b.count / all;
        m2 += b.m2 + delta * delta * count * b.count / all;
        count = all;
    }
};

__global__ void right(const float *x, float *y, int n) {
    __shared__ float3 warps[3];
    x += blockIdx.x * n;
    moments own;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float delta = x[i] - own.mean;
        own.mean += delta / ++own.count;
        own.m2 += delta * (x[i] - own.mean);
    }
    for (int d = 16; d; d /= 2) {
        moments other;
        other.mean = __shfl_down_sync(~0u, own.mean, d);
        other.m2 = __shfl_down_sync(~0u, own.m2, d);
        other.count = __shfl_down_sync(~0u, own.count, d);
        own.add(other);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = make_float3(own.mean, own.m2, own.count);
    __syncthreads();
    moments all;
    for (float3 w : warps) {
        moments one;
        one.mean = w.x, one.m2 = w.y, one.count = w.z;
        all.add(one);
    }
    float scale = rsqrtf(all.m2 / all.count);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = (x[i] - all.mean) * scale;
}

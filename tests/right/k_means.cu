// One step of k-means: the nearest center, sums in shared memory, then in global memory; another kernel divides.
//> p = ck.asarray(floats(600).reshape(300, 2)); c = ck.asarray(p.get()[:5])
//> s = ck.zeros((5, 2), "f4"); n = ck.zeros(5, "i4")
//> start = c.get(); kernel[3, 128](p, c, s, n, 300); program.divide[1, 32](c, s, n)
//= h = p.get(); near = ((h[:, None] - start[None]) ** 2).sum(2).argmin(1)
//= np.testing.assert_allclose(c.get(), [h[near == i].mean(0) for i in range(5)], rtol=1e-2)
#define K 5
__global__ void divide(float *c, const float *s, const int *n) {
    int i = threadIdx.x;
    if (i < 2 * K && n[i / 2] > 0) c[i] = s[i] / n[i / 2];
}

__global__ void right(const float *p, const float *c, float *s, int *n, int count) {
    __shared__ float centers[K][2], sums[K][2];
    __shared__ int counts[K];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 2 * K) {
        (&centers[0][0])[t] = c[t];
        (&sums[0][0])[t] = 0;
    }
    if (t < K) counts[t] = 0;
    __syncthreads();
    if (i < count) {
        float x = p[2 * i], y = p[2 * i + 1], least = INFINITY;
        int nearest = 0;
        for (int k = 0; k < K; ++k) {
            float dx = x - centers[k][0], dy = y - centers[k][1], d = dx * dx + dy * dy;
            if (d < least) least = d, nearest = k;
        }
        atomicAdd(&sums[nearest][0], x);
        atomicAdd(&sums[nearest][1], y);
        atomicAdd(&counts[nearest], 1);
    }
    __syncthreads();
    if (t < K) {
        atomicAdd(&s[2 * t], sums[t][0]);
        atomicAdd(&s[2 * t + 1], sums[t][1]);
        atomicAdd(&n[t], counts[t]);
    }
}

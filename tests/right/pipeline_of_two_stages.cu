// While a block adds up one tile, the copy of the next one is on its way.
//> x = ck.asarray(floats(1024)); y = ck.empty(64, "f4"); kernel[2, 32](x, y)
//= expected = x.get().reshape(2, 16, 32).sum(1)[:, ::-1]
//= np.testing.assert_allclose(y.get().reshape(2, 32), expected, rtol=1e-5)
#include <cuda_pipeline.h>

__global__ void right(const float *x, float *y) {
    __shared__ float tiles[2][32];
    const int t = threadIdx.x, n = 16;
    const float *own = x + blockIdx.x * n * 32;
    float sum = 0;
    __pipeline_memcpy_async(&tiles[0][t], &own[t], sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < n; ++i) {
        if (i + 1 < n) __pipeline_memcpy_async(&tiles[(i + 1) % 2][t], &own[(i + 1) * 32 + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tiles[i % 2][31 - t];
        __syncthreads();
    }
    y[blockIdx.x * 32 + t] = sum;
}

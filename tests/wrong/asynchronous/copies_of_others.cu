// A thread waits for its own copies only. Without a barrier after the wait, those of other threads may be unfinished.
//> x = ck.asarray(floats(256)); y = ck.empty(64, "f4"); kernel[1, 64](x, y)
//= np.testing.assert_allclose(y.get(), x.get().reshape(4, 64).sum(0), rtol=1e-5)
#include "async_copy.cuh"

__global__ void wrong(const float *x, float *y) {
    __shared__ __align__(16) float tile[4][64];
    int t = threadIdx.x;
    cp_async<16>(&tile[t / 16][t % 16 * 4], x + 4 * t); //! asynchronous
    cp_async_commit();
    cp_async_wait<0>();
    y[t] = tile[0][t] + tile[1][t] + tile[2][t] + tile[3][t]; //! asynchronous
}

__global__ void right(const float *x, float *y) {
    __shared__ __align__(16) float tile[4][64];
    int t = threadIdx.x;
    cp_async<16>(&tile[t / 16][t % 16 * 4], x + 4 * t);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    y[t] = tile[0][t] + tile[1][t] + tile[2][t] + tile[3][t];
}

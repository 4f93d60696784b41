// The end of the tile is replaced by zeros while the copies to it are still under way: they may come after the zeros.
//> x = ck.asarray(floats(64)); y = ck.empty(64, "f4"); kernel[1, 64](x, y, 53)
//= np.testing.assert_array_equal(y.get(), np.where(np.arange(64) < 53, x.get(), 0)[::-1])
#include "async_copy.cuh"

__global__ void wrong(const float *x, float *y, int used) {
    __shared__ __align__(16) float tile[64];
    int t = threadIdx.x;
    if (t < 16) cp_async<16>(&tile[4 * t], x + 4 * t); //! asynchronous
    cp_async_commit();
    if (t >= used) tile[t] = 0; //! asynchronous
    cp_async_wait<0>();
    __syncthreads();
    y[t] = tile[63 - t];
}

__global__ void right(const float *x, float *y, int used) {
    __shared__ __align__(16) float tile[64];
    int t = threadIdx.x;
    if (t < 16) cp_async<16>(&tile[4 * t], x + 4 * t);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    if (t >= used) tile[t] = 0;
    __syncthreads();
    y[t] = tile[63 - t];
}

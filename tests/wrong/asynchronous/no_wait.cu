// The copies to shared memory have begun and are not awaited. A barrier of the block does not wait for them.
//> x = ck.asarray(floats(128)); y = ck.empty(128, "f4"); kernel[2, 64](x, y)
//= np.testing.assert_array_equal(y.get().reshape(2, 64), x.get().reshape(2, 64)[:, ::-1])
#include "async_copy.cuh"

__global__ void wrong(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    cp_async<4>(&tile[t], x + first + t); //! asynchronous
    cp_async_commit();
    __syncthreads();
    y[first + t] = tile[63 - t]; //! asynchronous
}

__global__ void right(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    cp_async<4>(&tile[t], x + first + t);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    y[first + t] = tile[63 - t];
}

// The copies were never committed to a group, so the wait for all groups does not wait for them.
//> x = ck.asarray(floats(96)); y = ck.empty(96, "f4"); kernel[1, 96](x, y)
//= np.testing.assert_array_equal(y.get(), np.roll(x.get(), 1))
#include "async_copy.cuh"

__global__ void wrong(const float *x, float *y) {
    __shared__ float ring[96];
    cp_async<4>(&ring[threadIdx.x], x + threadIdx.x); //! asynchronous
    cp_async_wait<0>();
    __syncthreads();
    y[threadIdx.x] = ring[(threadIdx.x + 95) % 96]; //! asynchronous
}

__global__ void right(const float *x, float *y) {
    __shared__ float ring[96];
    cp_async<4>(&ring[threadIdx.x], x + threadIdx.x);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    y[threadIdx.x] = ring[(threadIdx.x + 95) % 96];
}

// The next tile is copied to the buffer from which slow threads still read the current one: a barrier is missing at
// the end of the loop.
//> x = ck.asarray(ints(6 * 32 * 2)); y = ck.empty(64, "i4"); kernel[1, 64](x, y, 6)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(6, 64)[:, ::-1].max(0))
#include "async_copy.cuh"

__global__ void wrong(const int *x, int *y, int tiles) {
    __shared__ int tile[64];
    int t = threadIdx.x, best = 0;
    for (int k = 0; k < tiles; ++k) {
        cp_async<4>(&tile[t], x + 64 * k + t); //! asynchronous
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        best = max(best, tile[63 - t]); //! asynchronous
    }
    y[t] = best;
}

__global__ void right(const int *x, int *y, int tiles) {
    __shared__ int tile[64];
    int t = threadIdx.x, best = 0;
    for (int k = 0; k < tiles; ++k) {
        cp_async<4>(&tile[t], x + 64 * k + t);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        best = max(best, tile[63 - t]);
        __syncthreads();
    }
    y[t] = best;
}

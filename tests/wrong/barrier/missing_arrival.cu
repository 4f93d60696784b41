// The mbarrier counts 65 arrivals, one more than there are: nobody ever leaves the wait.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[1, 64](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[::-1])
#include "mbarrier.cuh"

__global__ void wrong(const int *x, int *y) {
    __shared__ mbarrier full;
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t == 0) mbarrier_init(&full, 65);
    __syncthreads();
    tile[t] = x[t];
    mbarrier_arrive(&full);
    mbarrier_wait(&full, 0); //! barrier
    y[t] = tile[63 - t];
}

__global__ void right(const int *x, int *y) {
    __shared__ mbarrier full;
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t == 0) mbarrier_init(&full, 64);
    __syncthreads();
    tile[t] = x[t];
    mbarrier_arrive(&full);
    mbarrier_wait(&full, 0);
    y[t] = tile[63 - t];
}

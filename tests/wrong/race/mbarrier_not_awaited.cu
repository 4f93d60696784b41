// Producers announce at an mbarrier that the box is full. The consumers never wait for it.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[1, 128](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[::-1])
#include "mbarrier.cuh"

__global__ void wrong(const int *x, int *y) {
    __shared__ mbarrier full;
    __shared__ int box[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x == 0) mbarrier_init(&full, 64);
    __syncthreads();
    if (threadIdx.x < 64) {
        box[t] = x[t]; //! race
        mbarrier_arrive(&full);
    } else {
        y[t] = box[63 - t]; //! race
    }
}

__global__ void right(const int *x, int *y) {
    __shared__ mbarrier full;
    __shared__ int box[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x == 0) mbarrier_init(&full, 64);
    __syncthreads();
    if (threadIdx.x < 64) {
        box[t] = x[t];
        mbarrier_arrive(&full);
    } else {
        mbarrier_wait(&full, 0);
        y[t] = box[63 - t];
    }
}

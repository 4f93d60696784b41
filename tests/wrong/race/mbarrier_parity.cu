// The consumers wait for parity 1 of a new mbarrier, the phase before the first one, which is always complete.
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
        mbarrier_wait(&full, 1);
        y[t] = box[63 - t]; //! race
    } else {
        box[t] = x[t]; //! race
        mbarrier_arrive(&full);
    }
}

__global__ void right(const int *x, int *y) {
    __shared__ mbarrier full;
    __shared__ int box[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x == 0) mbarrier_init(&full, 64);
    __syncthreads();
    if (threadIdx.x < 64) {
        mbarrier_wait(&full, 0);
        y[t] = box[63 - t];
    } else {
        box[t] = x[t];
        mbarrier_arrive(&full);
    }
}

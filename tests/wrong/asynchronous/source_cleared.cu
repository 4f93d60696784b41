// The kernel takes what is in the inbox and clears it, before the copy has read it.
//> inbox = ck.asarray(ints(64) + 1); h = inbox.get(); y = ck.empty(64, "i4"); kernel[1, 64](inbox, y)
//= np.testing.assert_array_equal(y.get(), np.roll(h, -8)); assert not inbox.get().any()
#include "async_copy.cuh"

__global__ void wrong(int *inbox, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    cp_async<4>(&tile[t], inbox + t); //! asynchronous
    cp_async_commit();
    inbox[t] = 0; //! asynchronous
    cp_async_wait<0>();
    __syncthreads();
    y[t] = tile[(t + 8) % 64];
}

__global__ void right(int *inbox, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    cp_async<4>(&tile[t], inbox + t);
    cp_async_commit();
    cp_async_wait<0>();
    inbox[t] = 0;
    __syncthreads();
    y[t] = tile[(t + 8) % 64];
}

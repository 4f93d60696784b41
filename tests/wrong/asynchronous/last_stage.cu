// Two stages take turns, and a wait leaves one group unfinished. In the last round no new group has begun, so the one
// that is left unfinished is the one that is needed. (A group may be empty: it is committed in each round.)
//> x = ck.asarray(ints(5 * 64)); y = ck.empty(64, "i4"); kernel[1, 64](x, y, 5)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(5, 64)[:, ::-1].sum(0))
#include "async_copy.cuh"

__global__ void wrong(const int *x, int *y, int tiles) {
    __shared__ int stage[2][64];
    int t = threadIdx.x, sum = 0;
    cp_async<4>(&stage[0][t], x + t);
    cp_async_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) {
            cp_async<4>(&stage[(k + 1) % 2][t], x + 64 * (k + 1) + t); //! asynchronous
            cp_async_commit();
        }
        cp_async_wait<1>();
        __syncthreads();
        sum += stage[k % 2][63 - t]; //! asynchronous
        __syncthreads();
    }
    y[t] = sum;
}

__global__ void right(const int *x, int *y, int tiles) {
    __shared__ int stage[2][64];
    int t = threadIdx.x, sum = 0;
    cp_async<4>(&stage[0][t], x + t);
    cp_async_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) cp_async<4>(&stage[(k + 1) % 2][t], x + 64 * (k + 1) + t);
        cp_async_commit();
        cp_async_wait<1>();
        __syncthreads();
        sum += stage[k % 2][63 - t];
        __syncthreads();
    }
    y[t] = sum;
}

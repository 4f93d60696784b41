// Thread 0 waits for the grid on behalf of its block, and the block waits for thread 0. All threads must wait for the
// grid.
//> x = ck.asarray(ints(128)); y = ck.empty(128, "i4"); z = ck.empty(128, "i4")
//> kernel(4, 32, x, y, z, cooperative=True)
//= np.testing.assert_array_equal(z.get(), np.sort(x.get())[0] + 1)
#include <cooperative_groups.h>

__global__ void wrong(const int *x, int *y, int *z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + 1;
    if (threadIdx.x == 0) cooperative_groups::this_grid().sync(); //! barrier
    __syncthreads();                                              //! barrier
    int least = y[0];
    for (int j = 1; j < 128; ++j) least = min(least, y[j]);
    z[i] = least;
}

__global__ void right(const int *x, int *y, int *z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + 1;
    cooperative_groups::this_grid().sync();
    int least = y[0];
    for (int j = 1; j < 128; ++j) least = min(least, y[j]);
    z[i] = least;
}

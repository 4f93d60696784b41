// Only the first two blocks wait for the grid; the others wait for the grid later, at another barrier.
//> y = ck.zeros(4, "i4"); z = ck.zeros(4, "i4"); kernel(4, 32, y, z, cooperative=True)
//= np.testing.assert_array_equal(z.get(), [4, 3, 2, 1])
#include <cooperative_groups.h>

__global__ void wrong(int *y, int *z) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) y[blockIdx.x] = blockIdx.x + 1;
    if (blockIdx.x < 2) grid.sync(); //! barrier
    if (threadIdx.x == 0 && blockIdx.x < 2) z[blockIdx.x] = y[1 - blockIdx.x];
    grid.sync(); //! barrier
    if (threadIdx.x == 0) z[blockIdx.x] = y[3 - blockIdx.x];
}

__global__ void right(int *y, int *z) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) y[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (threadIdx.x == 0) z[blockIdx.x] = y[3 - blockIdx.x];
}

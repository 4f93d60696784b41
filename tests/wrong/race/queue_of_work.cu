// Threads put work into a queue and, in the same launch, take some out. The count tells how many places are taken,
// not that they are filled.
//> x = ck.asarray(ints(128)); queue = ck.zeros(128, "i4"); count = ck.zeros(1, "i4"); y = ck.zeros(128, "i4")
//> kernel(2, 64, x, queue, count, y, cooperative=True)
//= h = x.get(); np.testing.assert_array_equal(np.sort(y.get()), np.sort(np.where(h > 30, 2 * h, 0)))
#include <cooperative_groups.h>

__global__ void wrong(const int *x, int *queue, int *count, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 30) queue[atomicAdd(count, 1)] = x[i]; //! race
    __syncthreads();
    int slot = gridDim.x * blockDim.x - 1 - i;
    if (slot < atomicAdd(count, 0)) y[slot] = 2 * queue[slot]; //! race
}

__global__ void right(const int *x, int *queue, int *count, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 30) queue[atomicAdd(count, 1)] = x[i];
    cooperative_groups::this_grid().sync();
    int slot = gridDim.x * blockDim.x - 1 - i;
    if (slot < *count) y[slot] = 2 * queue[slot];
}

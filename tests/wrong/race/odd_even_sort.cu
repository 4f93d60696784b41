// Odd-even sort over several blocks in one launch: at the borders of the blocks, nothing separates the rounds.
//> x = ck.asarray(ints(64)); h = x.get(); kernel(4, 8, x, 64, cooperative=True)
//= np.testing.assert_array_equal(x.get(), np.sort(h))
#include <cooperative_groups.h>

__global__ void wrong(int *x, int n) {
    for (int round = 0; round < n; ++round) {
        int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + round % 2;
        if (i + 1 < n) {
            int a = x[i], b = x[i + 1];        //! race
            if (a > b) x[i] = b, x[i + 1] = a; //! race
        }
        __syncthreads();
    }
}

__global__ void right(int *x, int n) {
    for (int round = 0; round < n; ++round) {
        int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + round % 2;
        if (i + 1 < n) {
            int a = x[i], b = x[i + 1];
            if (a > b) x[i] = b, x[i + 1] = a;
        }
        cooperative_groups::this_grid().sync();
    }
}

// Eight lanes of a cooperative-groups tile add up through shared memory and never call tile.sync().
//> x = ck.asarray(ints(128)); y = ck.empty(16, "i4"); kernel[2, 64](x, y)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(16, 8).sum(1))
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void wrong(const int *x, int *y) {
    __shared__ int scratch[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[threadIdx.x] = x[i]; //! race
    if (tile.thread_rank() == 0) {
        int sum = 0;
        for (int j = 0; j < 8; ++j) sum += scratch[threadIdx.x + j]; //! race
        y[i / 8] = sum;
    }
}

__global__ void right(const int *x, int *y) {
    __shared__ int scratch[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[threadIdx.x] = x[i];
    tile.sync();
    if (tile.thread_rank() == 0) {
        int sum = 0;
        for (int j = 0; j < 8; ++j) sum += scratch[threadIdx.x + j];
        y[i / 8] = sum;
    }
}

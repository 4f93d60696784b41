// A shuffle of a tile of eight threads needs all eight, but only those with an odd value call it.
//> x = ck.asarray(ints(64)); y = ck.empty(64, "i4"); kernel[1, 64](x, y)
//= h = x.get().reshape(8, 8); np.testing.assert_array_equal(y.get(), np.where(h % 2, h[:, 7:], h).ravel())
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void wrong(const int *x, int *y) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int value = x[threadIdx.x];
    if (value % 2) value = tile.shfl(value, 7); //! warp
    __syncthreads();
    y[threadIdx.x] = value;
}

__global__ void right(const int *x, int *y) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int value = x[threadIdx.x], last = tile.shfl(value, 7);
    __syncthreads();
    y[threadIdx.x] = value % 2 ? last : value;
}

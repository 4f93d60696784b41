// Cooperative groups: a tile of 32 lanes, tiles of 8 in it, and a sum of the block from the tiles' sums.
//> x = ck.asarray(ints(512)); y = ck.empty(2, "i4"); z = ck.empty(64, "i4"); kernel[2, 256](x, y, z)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(2, 256).sum(1))
//= np.testing.assert_array_equal(z.get(), x.get().reshape(64, 8).max(1))
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void right(const int *x, int *y, int *z) {
    __shared__ int sums[8];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(tile);
    int i = block.group_index().x * block.size() + block.thread_rank(), value = x[i];
    int largest = cg::reduce(eight, value, cg::greater<int>());
    if (eight.thread_rank() == 0) z[i / 8] = largest;
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = value;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        value = tile.thread_rank() < tile.meta_group_size() ? sums[tile.thread_rank()] : 0;
        value = cg::reduce(tile, value, cg::plus<int>());
        if (block.thread_rank() == 0) y[blockIdx.x] = value;
    }
}

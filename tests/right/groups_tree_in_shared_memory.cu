// A function that adds up the values of any group in shared memory, with the group's own barrier: for a tile, and
// for a block.
//> x = ck.asarray(ints(128)); y = ck.empty(8, "i4"); z = ck.empty(1, "i4"); kernel[1, 128, 512](x, y, z)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(8, 16).sum(1))
//= assert z[0].get() == x.get().sum()
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <typename Group> __device__ int sum(const Group &group, int *scratch, int value) {
    int rank = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < i) value += scratch[rank + i];
        group.sync();
    }
    return value;
}

__global__ void right(const int *x, int *y, int *z) {
    extern __shared__ int scratch[];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int value = x[block.thread_rank()];
    int of_tile = sum(tile, scratch + 16 * tile.meta_group_rank(), value);
    if (tile.thread_rank() == 0) y[tile.meta_group_rank()] = of_tile;
    block.sync();
    int of_block = sum(block, scratch, value);
    if (block.thread_rank() == 0) *z = of_block;
}

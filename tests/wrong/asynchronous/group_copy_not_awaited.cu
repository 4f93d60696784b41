// memcpy_async of a cooperative group returns before the data is there; sync() of the group does not wait for it.
//> x = ck.asarray(ints(256)); y = ck.empty(4, "i4"); kernel[4, 64](x, y)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(4, 64).max(1))
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void wrong(const int *x, int *y) {
    __shared__ __align__(16) int tile[64];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x + 64 * blockIdx.x, sizeof tile); //! asynchronous
    block.sync();
    if (block.thread_rank() == 0) {
        int best = 0;
        for (int i = 0; i < 64; ++i) best = max(best, tile[i]); //! asynchronous
        y[blockIdx.x] = best;
    }
}

__global__ void right(const int *x, int *y) {
    __shared__ __align__(16) int tile[64];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x + 64 * blockIdx.x, sizeof tile);
    cg::wait(block);
    if (block.thread_rank() == 0) {
        int best = 0;
        for (int i = 0; i < 64; ++i) best = max(best, tile[i]);
        y[blockIdx.x] = best;
    }
}

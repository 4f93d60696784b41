// A block as a cooperative group: sync() in a branch that only the threads with a large value take.
//> x = ck.asarray(ints(96)); y = ck.empty(96, "i4"); kernel[1, 96](x, y)
//= h = x.get(); np.testing.assert_array_equal(y.get(), np.where(h > 50, (h > 50).sum(), 0))
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void wrong(const int *x, int *y) {
    __shared__ int count;
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) count = 0;
    block.sync();
    y[block.thread_rank()] = 0;
    if (x[block.thread_rank()] > 50) {
        atomicAdd(&count, 1);
        block.sync(); //! barrier
        y[block.thread_rank()] = count;
    }
    block.sync(); //! barrier
}

__global__ void right(const int *x, int *y) {
    __shared__ int count;
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) count = 0;
    block.sync();
    bool large = x[block.thread_rank()] > 50;
    if (large) atomicAdd(&count, 1);
    block.sync();
    y[block.thread_rank()] = large ? count : 0;
}

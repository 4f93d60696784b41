// Compaction: the lanes that keep their element form a coalesced group, whose leader reserves their places.
//> x = ck.asarray(ints(700)); y = ck.empty(700, "i4"); count = ck.zeros(1, "i4"); kernel[3, 256](x, y, count, 700)
//= h = x.get(); h = h[h % 3 == 0]; n = int(count[0].get())
//= np.testing.assert_array_equal(np.sort(y.get()[:n]), np.sort(h))
#include <cooperative_groups.h>

__device__ int next_place(int *count) {
    auto active = cooperative_groups::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, active.size());
    return active.shfl(first, 0) + active.thread_rank();
}

__global__ void right(const int *x, int *y, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 3 == 0) y[next_place(count)] = x[i];
}

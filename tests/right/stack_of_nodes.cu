// A stack without a lock: each thread pushes a node, and some take the whole stack and add its values up.
//> x = ck.asarray(ints(128)); next = ck.empty(128, "i4"); total = ck.zeros(1, "i4")
//> top = ck.asarray(np.full(1, -1, "i4")); kernel[4, 32](x, next, top, total)
//= assert total[0].get() == x.get().sum() and top[0].get() == -1
#include <cuda/atomic>

__global__ void right(const int *x, int *next, int *top, int *total) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> head(*top), sum(*total);
    int old = head.load(cuda::memory_order_relaxed);
    do next[node] = old;
    while (!head.compare_exchange_weak(old, node, cuda::memory_order_release, cuda::memory_order_relaxed));
    __syncthreads();
    if (threadIdx.x) return;
    int mine = 0;
    for (int at = head.exchange(-1, cuda::memory_order_acquire); at >= 0; at = next[at]) mine += x[at];
    sum += mine;
}

// All blocks count into one histogram, with operations that are atomic for the threads of a block only.
//> x = ck.asarray(ints(512)); bins = ck.zeros(10, "i4"); kernel[4, 128](x, bins)
//= np.testing.assert_array_equal(bins.get(), np.bincount(x.get() // 10, minlength=10))
#include <cuda/atomic>

__global__ void wrong(const int *x, int *bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_block> bin(bins[x[i] / 10]);
    bin.fetch_add(1, cuda::memory_order_relaxed); //! scope
}

__global__ void right(const int *x, int *bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> bin(bins[x[i] / 10]);
    bin.fetch_add(1, cuda::memory_order_relaxed);
}

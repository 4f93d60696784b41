// Launches in two streams count into the same histogram. Each thread has a bin of its own, but only within a launch.
//> a, b = ck.asarray(ints(1000) % 8), ck.asarray(ints(1000) % 8); bins = ck.zeros(8, "i4"); ck.synchronize()
//> one, other, at = ck.Stream(), ck.Stream(), address(bins)
//> kernel(1, 8, a, at, 1000, stream=one) //! streams
//> kernel(1, 8, b, at, 1000, stream=other) //! streams
//= np.testing.assert_array_equal(bins.get(), np.bincount(np.r_[a.get(), b.get()], minlength=8))
__global__ void wrong(const int *x, unsigned long long bins, int n) {
    int count = 0;
    for (int i = 0; i < n; ++i) count += x[i] == threadIdx.x;
    reinterpret_cast<int *>(bins)[threadIdx.x] += count;
}

__global__ void right(const int *x, unsigned long long bins, int n) {
    int count = 0;
    for (int i = 0; i < n; ++i) count += x[i] == threadIdx.x;
    atomicAdd(reinterpret_cast<int *>(bins) + threadIdx.x, count);
}

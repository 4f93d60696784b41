// __syncthreads_count is a barrier too: it is called only by threads that have an element, while the others wait at
// the plain barrier.
//> x = ck.asarray(ints(100)); y = ck.zeros(2, "i4"); kernel[1, 128](x, y, 100)
//= np.testing.assert_array_equal(y.get(), [(x.get() % 2).sum(), 100])
__global__ void wrong(const int *x, int *y, int n) {
    int t = threadIdx.x, odd = 0;
    if (t < n) odd = __syncthreads_count(x[t] % 2); //! barrier
    if (t == 0) y[0] = odd;
    __syncthreads(); //! barrier
    if (t == 0) y[1] = n;
}

__global__ void right(const int *x, int *y, int n) {
    int t = threadIdx.x;
    int odd = __syncthreads_count(t < n && x[t] % 2);
    if (t == 0) y[0] = odd;
    __syncthreads();
    if (t == 0) y[1] = n;
}

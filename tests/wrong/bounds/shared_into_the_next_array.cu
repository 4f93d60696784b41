// Pairs are spread over two shared arrays, but the first index is not halved: the writes run out of `even` into
// whatever follows, probably `odd`.
//> x = ck.asarray(ints(128)); y = ck.empty(128, "i4")
//> kernel[1, 128](x, y)
//= np.testing.assert_array_equal(y.get(), np.r_[x.get()[::2], x.get()[1::2]])
__global__ void wrong(const int *x, int *y) {
    __shared__ int even[64];
    __shared__ int odd[64];
    int t = threadIdx.x;
    if (t % 2) odd[t / 2] = x[t];
    __syncthreads();
    if (t % 2 == 0) even[t] = x[t]; //! bounds even[64]
    __syncthreads();
    if (t >= 64) y[t] = odd[t - 64];
}

__global__ void right(const int *x, int *y) {
    __shared__ int even[64];
    __shared__ int odd[64];
    int t = threadIdx.x;
    if (t % 2) odd[t / 2] = x[t];
    __syncthreads();
    if (t % 2 == 0) even[t / 2] = x[t];
    __syncthreads();
    y[t] = t < 64 ? even[t] : odd[t - 64];
}

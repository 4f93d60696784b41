// One stream fills a table in a __device__ variable, and another one uses it without waiting.
//> x = ck.asarray(ints(300)); y = ck.empty(300, "i4"); roots = ck.asarray(np.arange(100, dtype="i4"))
//> ck.synchronize(); maker, user = ck.Stream(), ck.Stream()
//> program.make_table(1, 100, roots, stream=maker) //! streams
//> if twin == "right": user.wait(maker.record())
//> kernel(2, 150, x, y, stream=user) //! streams
//= np.testing.assert_array_equal(y.get(), x.get() ** 2)
__device__ int squares[100];

__global__ void make_table(const int *roots) {
    squares[threadIdx.x] = roots[threadIdx.x] * roots[threadIdx.x];
}

__global__ void wrong(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = squares[x[i]];
}

__global__ void right(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = squares[x[i]];
}

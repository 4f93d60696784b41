// One stream fills a table in a __device__ variable, and another one uses it without waiting.
//> x = ck.asarray(ints(300)); y = ck.empty(300, "i4"); ck.synchronize(); maker, user = ck.Stream(), ck.Stream()
//> program.make_table(1, 100, stream=maker) //! streams
//> if twin == "right": user.wait(maker.record())
//> kernel(2, 150, x, y, stream=user) //! streams
//= np.testing.assert_array_equal(y.get(), x.get() ** 2)
__device__ int squares[100];

__global__ void make_table() {
    squares[threadIdx.x] = threadIdx.x * threadIdx.x;
}

__global__ void wrong(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = squares[x[i]];
}

__global__ void right(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = squares[x[i]];
}

// The function that adds up a block has barriers, so all threads must call it, not only those with an element.
//> x = ck.asarray(ints(300)); sums = ck.empty(3, "i4"); kernel[3, 128](x, sums, 300)
//= np.testing.assert_array_equal(sums.get(), np.pad(x.get(), (0, 84)).reshape(3, 128).sum(1))
__device__ void add_to(int *sum, int value) {
    if (threadIdx.x == 0) *sum = 0;
    __syncthreads(); //! barrier
    atomicAdd(sum, value);
}

__global__ void wrong(const int *x, int *sums, int n) {
    __shared__ int sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) add_to(&sum, x[i]); //! barrier
    __syncthreads();               //! barrier
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void right(const int *x, int *sums, int n) {
    __shared__ int sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    add_to(&sum, i < n ? x[i] : 0);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

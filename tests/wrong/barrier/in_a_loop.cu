// 150 elements and 64 threads: some threads take three rounds of the loop and others two, and each round has a
// barrier.
//> x = ck.asarray(ints(150)); sums = ck.empty(64, "i4"); total = ck.zeros(1, "i4")
//> kernel[1, 64](x, sums, total, 150)
//= assert total[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *sums, int *total, int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&sum, x[i]);
        __syncthreads(); //! barrier
        if (threadIdx.x == 0) sums[i / blockDim.x] = sum;
    }
    __syncthreads(); //! barrier
    if (threadIdx.x == 0) *total = sum;
}

__global__ void right(const int *x, int *sums, int *total, int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int first = 0; first < n; first += blockDim.x) {
        int i = first + threadIdx.x;
        if (i < n) atomicAdd(&sum, x[i]);
        __syncthreads();
        if (threadIdx.x == 0) sums[first / blockDim.x] = sum;
        __syncthreads();
    }
    if (threadIdx.x == 0) *total = sum;
}

// The last block to finish adds up the partial sums of all blocks. Without a fence between a block's sum and its
// count, the last block may see the count and not the sum.
//> x = ck.asarray(ints(1024)); partial = ck.empty(8, "i4"); total = ck.empty(1, "i4"); done = ck.zeros(1, "u4")
//> kernel[8, 128](x, partial, total, done)
//= assert total[0].get() == x.get().sum()
__device__ int sum_of_block(int value) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, value);
    __syncthreads();
    return sum;
}

__global__ void wrong(const int *x, int *partial, int *total, unsigned *done) {
    int sum = sum_of_block(x[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x != 0) return;
    partial[blockIdx.x] = sum; //! race
    if (atomicAdd(done, 1) == gridDim.x - 1) {
        int all = 0;
        for (int b = 0; b < gridDim.x; ++b) all += partial[b]; //! race
        *total = all;
    }
}

__global__ void right(const int *x, int *partial, int *total, unsigned *done) {
    int sum = sum_of_block(x[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x != 0) return;
    partial[blockIdx.x] = sum;
    __threadfence();
    if (atomicAdd(done, 1) == gridDim.x - 1) {
        __threadfence();
        int all = 0;
        for (int b = 0; b < gridDim.x; ++b) all += partial[b];
        *total = all;
    }
}

// atomicAdd_block is atomic only among the threads of one block, but all blocks add to this total.
//> x = ck.asarray(ints(512)); total = ck.zeros(1, "i4"); kernel[4, 128](x, total)
//= assert total[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *total) {
    atomicAdd_block(total, x[blockIdx.x * blockDim.x + threadIdx.x]); //! scope
}

__global__ void right(const int *x, int *total) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd_block(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// The first block sets the total to zero and then waits at a barrier, which the other blocks do not know: they may
// have added before.
//> x = ck.asarray(ints(512)); total = ck.asarray(ints(1))
//> if twin == "right": total.fill(0)
//> kernel[4, 128](x, total)
//= assert total[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *total) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *total = 0; //! race
    __syncthreads();
    atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]); //! race
}

__global__ void right(const int *x, int *total) {
    atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

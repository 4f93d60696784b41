// Thread 0 sets the total to zero in the same launch in which all others add to it; some may be earlier than thread
// 0.
//> x = ck.asarray(ints(512)); total = ck.asarray(ints(1))
//> if twin == "right": total.fill(0)
//> kernel[2, 256](x, total)
//= assert total[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *total = 0; //! race
    atomicAdd(total, x[i]); //! race
}

__global__ void right(const int *x, int *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, x[i]);
}

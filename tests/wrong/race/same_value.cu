// All threads that see a negative number write the same value to the same place. It looks harmless, but it is a race,
// and what it does is undefined.
//> x = ck.asarray(ints(300) - 50); any = ck.zeros(1, "i4"); kernel[3, 100](x, any)
//= assert any[0].get() == 1
__global__ void wrong(const int *x, int *any) {
    if (x[blockIdx.x * blockDim.x + threadIdx.x] < 0) *any = 1; //! race
}

__global__ void right(const int *x, int *any) {
    bool negative = x[blockIdx.x * blockDim.x + threadIdx.x] < 0;
    if (__syncthreads_or(negative) && threadIdx.x == 0) atomicExch(any, 1);
}

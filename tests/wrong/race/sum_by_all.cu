// All threads add to one element without atomics: they read the same old sum, and all but one addition are lost.
//> x = ck.asarray(ints(1000)); y = ck.zeros(1, "i4"); kernel[4, 256](x, y, 1000)
//= assert y[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[0] += x[i]; //! race y[0]
}

__global__ void right(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&y[0], x[i]);
}

// Every thread adds to a total that nobody has set to zero: the array is empty(1), not zeros(1).
//> x = ck.asarray(ints(500)); total = ck.empty(1, "i4") if twin == "wrong" else ck.zeros(1, "i4")
//> kernel[2, 256](x, total, 500)
//= assert total[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, x[i]); //! uninitialised total[0]
}

__global__ void right(const int *x, int *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, x[i]);
}

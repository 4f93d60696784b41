// The first kernel writes only the slots of large values. The next one reads the others as well.
//> x = ck.asarray(ints(200)); slots = ck.empty(200, "i4"); total = ck.zeros(1, "i4")
//> program.keep_large[1, 256](x, slots, 200)
//> kernel[1, 256](x, slots, total, 200)
//= h = x.get(); assert total[0].get() == h[h >= 50].sum()
__global__ void keep_large(const int *x, int *slots, int n) {
    int i = threadIdx.x;
    if (i < n && x[i] >= 50) slots[i] = x[i];
}

__global__ void wrong(const int *x, const int *slots, int *total, int n) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(total, slots[i]); //! uninitialised
}

__global__ void right(const int *x, const int *slots, int *total, int n) {
    int i = threadIdx.x;
    if (i < n && x[i] >= 50) atomicAdd(total, slots[i]);
}

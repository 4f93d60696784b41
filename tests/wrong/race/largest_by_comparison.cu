// Comparing and storing are two steps: between them another thread may have stored a larger value.
//> x = ck.asarray(ints(500)); best = ck.zeros(1, "i4"); kernel[2, 256](x, best, 500)
//= assert best[0].get() == x.get().max()
__global__ void wrong(const int *x, int *best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > *best) *best = x[i]; //! race
}

__global__ void right(const int *x, int *best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(best, x[i]);
}

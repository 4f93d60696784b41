// Threads stop searching when one has found the key. They look at the result with a plain read while others write it.
//> x = ck.asarray(ints(800)); where = ck.asarray(np.array([-1], "i4")); kernel[2, 100](x, where, 800, 17)
//= assert x.get()[where.get()[0]] == 17
__global__ void wrong(const int *x, int *where, int n, int key) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (*where >= 0) return;     //! race
        if (x[i] == key) *where = i; //! race
    }
}

__global__ void right(const int *x, int *where, int n, int key) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (atomicAdd(where, 0) >= 0) return;
        if (x[i] == key) atomicExch(where, i);
    }
}

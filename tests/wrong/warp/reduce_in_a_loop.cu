// Each lane has a list of its own length. The reduction in the loop names all lanes, also those that are through.
//> x = ck.asarray(ints(32) % 7); y = ck.zeros(1, "i4"); kernel[1, 32](x, y)
//= assert y[0].get() == (x.get() * (x.get() - 1) // 2).sum()
__global__ void wrong(const int *x, int *y) {
    for (int i = 0; i < x[threadIdx.x]; ++i) {
        int sum = __reduce_add_sync(0xffffffff, i); //! warp
        if (threadIdx.x == 0) *y += sum;
    }
    __syncthreads();
    if (threadIdx.x == 31) atomicAdd(y, 0);
}

__global__ void right(const int *x, int *y) {
    int sum = 0;
    for (int i = 0; i < x[threadIdx.x]; ++i) sum += i;
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x == 0) *y = sum;
}

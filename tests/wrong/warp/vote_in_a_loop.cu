// Lanes leave the loop after different numbers of rounds, but every vote names all of them.
//> x = ck.asarray(ints(32)); y = ck.zeros(1, "i4"); kernel[1, 32](x, y)
//= assert y[0].get() == x.get().max()
__global__ void wrong(const int *x, int *y) {
    int left = x[threadIdx.x], rounds = 0;
    while (left > 0) {
        --left;
        ++rounds;
        if (!__any_sync(0xffffffff, left > 0) && threadIdx.x == 0) *y = rounds; //! warp
    }
    __syncthreads();
    atomicMax(y, rounds);
}

__global__ void right(const int *x, int *y) {
    int left = x[threadIdx.x], rounds = 0;
    while (__any_sync(0xffffffff, left > 0)) {
        --left;
        ++rounds;
    }
    if (threadIdx.x == 0) *y = rounds;
}

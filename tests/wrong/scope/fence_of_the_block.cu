// The last block reads what the others wrote. __threadfence_block() orders a block's writes for that block only.
//> x = ck.asarray(ints(6)); squares = ck.empty(6, "i4"); done = ck.zeros(1, "u4"); total = ck.empty(1, "i4")
//> kernel[6, 1](x, squares, done, total)
//= assert total[0].get() == (x.get() ** 2).sum()
__global__ void wrong(const int *x, int *squares, unsigned *done, int *total) {
    squares[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x]; //! race
    __threadfence_block();                               //! scope
    if (atomicInc(done, gridDim.x - 1) == gridDim.x - 1) {
        __threadfence();
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += squares[b]; //! race
        *total = sum;
    }
}

__global__ void right(const int *x, int *squares, unsigned *done, int *total) {
    squares[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x];
    __threadfence();
    if (atomicInc(done, gridDim.x - 1) == gridDim.x - 1) {
        __threadfence();
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += squares[b];
        *total = sum;
    }
}

// A lock keeps two blocks from changing the balance at once, but without fences a block may not see what the holder
// before it has written.
//> x = ck.asarray(ints(8)); balance = ck.zeros(1, "i4"); lock = ck.zeros(1, "i4"); kernel[8, 1](x, balance, lock)
//= assert balance[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *balance, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *balance += x[blockIdx.x]; //! race
    atomicExch(lock, 0);
}

__global__ void right(const int *x, int *balance, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *balance += x[blockIdx.x];
    __threadfence();
    atomicExch(lock, 0);
}

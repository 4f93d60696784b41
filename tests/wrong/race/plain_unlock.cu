// The lock is taken atomically, but given back by a plain store.
//> x = ck.asarray(ints(8)); largest = ck.zeros(1, "i4"); lock = ck.zeros(1, "i4"); kernel[8, 1](x, largest, lock)
//= assert largest[0].get() == x.get().max()
__global__ void wrong(const int *x, int *largest, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {} //! race
    __threadfence();
    *largest = max(*largest, x[blockIdx.x]); //! race
    __threadfence();
    *lock = 0; //! race
}

__global__ void right(const int *x, int *largest, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *largest = max(*largest, x[blockIdx.x]);
    __threadfence();
    atomicExch(lock, 0);
}

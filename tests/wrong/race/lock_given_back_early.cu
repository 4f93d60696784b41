// The lock protects the read of the balance, but not the write that follows from it.
//> balance = ck.zeros(1, "i4"); lock = ck.zeros(1, "i4"); kernel[8, 1](balance, lock)
//= assert balance[0].get() == 80
__global__ void wrong(int *balance, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    int before = *balance; //! race
    __threadfence();
    atomicExch(lock, 0);
    *balance = before + 10; //! race
}

__global__ void right(int *balance, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    int before = *balance;
    *balance = before + 10;
    __threadfence();
    atomicExch(lock, 0);
}

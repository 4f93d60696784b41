// Block 0 publishes a number and raises a flag for block 1. Without fences, the flag may arrive before the number.
//> mailbox = ck.zeros(1, "i4"); flag = ck.zeros(1, "i4"); y = ck.empty(1, "i4")
//> kernel(2, 1, mailbox, flag, y, cooperative=True)
//= assert y[0].get() == 42
__global__ void wrong(int *mailbox, int *flag, int *y) {
    if (blockIdx.x == 0) {
        *mailbox = 42; //! race
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        *y = *mailbox; //! race
    }
}

__global__ void right(int *mailbox, int *flag, int *y) {
    if (blockIdx.x == 0) {
        *mailbox = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *y = *mailbox;
    }
}

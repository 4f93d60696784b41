// The flag goes from block to block, but it is raised by an atomic operation of the block's scope.
//> mail = ck.zeros(1, "f4"); flag = ck.zeros(1, "i4"); y = ck.empty(1, "f4")
//> kernel(2, 1, mail, flag, y, cooperative=True)
//= assert y[0].get() == 2.5
__global__ void wrong(float *mail, int *flag, float *y) {
    if (blockIdx.x == 0) {
        *mail = 2.5f; //! race
        __threadfence();
        atomicExch_block(flag, 1); //! scope
    } else {
        while (atomicAdd(flag, 0) == 0) {} //! scope
        __threadfence();
        *y = *mail; //! race
    }
}

__global__ void right(float *mail, int *flag, float *y) {
    if (blockIdx.x == 0) {
        *mail = 2.5f;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *y = *mail;
    }
}

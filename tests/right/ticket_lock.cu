// A fair lock: a ticket, a display, and volatile reads of the display.
//> y = ck.zeros(1, "i4"); lock = ck.zeros(2, "u4"); kernel[12, 32](y, lock)
//= assert y[0].get() == sum(range(12))
__global__ void right(int *y, unsigned *lock) {
    if (threadIdx.x != 0) return;
    unsigned ticket = atomicAdd(&lock[0], 1u);
    volatile unsigned *display = &lock[1];
    while (*display != ticket) {}
    __threadfence();
    *y += blockIdx.x;
    __threadfence();
    *display = ticket + 1;
}

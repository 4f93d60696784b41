// The block that counts last adds up the sums of all. The order is that of the counting instruction itself, which
// releases the block's own sum and acquires the others'.
//> x = ck.asarray(ints(256)); sums = ck.empty(8, "i4"); count = ck.zeros(1, "u4"); total = ck.empty(1, "i4")
//> kernel[8, 32](x, sums, count, total)
//= assert total[0].get() == x.get().sum()
__device__ unsigned count_one(unsigned *count) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
    return before;
}

__global__ void right(const int *x, int *sums, unsigned *count, int *total) {
    int sum = x[blockIdx.x * 32 + threadIdx.x];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
    if (threadIdx.x != 0) return;
    sums[blockIdx.x] = sum;
    if (count_one(count) != gridDim.x - 1) return;
    sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += sums[b];
    *total = sum;
}

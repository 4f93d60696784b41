// 40 elements: in the second warp all lanes but eight return early, and the others shuffle from these.
//> x = ck.asarray(ints(40)); total = ck.zeros(1, "i4"); kernel[1, 64](x, total, 40)
//= assert total[0].get() == x.get().sum()
__global__ void wrong(const int *x, int *total, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    int sum = x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d); //! warp
    if (i % 32 == 0) atomicAdd(total, sum);
}

__global__ void right(const int *x, int *total, int n) {
    int i = threadIdx.x;
    int sum = i < n ? x[i] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (i % 32 == 0) atomicAdd(total, sum);
}

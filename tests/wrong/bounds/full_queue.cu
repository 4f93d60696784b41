// Threads append what they found to a queue of the block, which is shorter than the number of threads.
//> x = ck.asarray(ints(128)); y = ck.empty(1, "i4"); kernel[1, 128](x, y)
//= assert y[0].get() == 127 * 64
__global__ void wrong(const int *x, int *y) {
    __shared__ int queue[96], count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[threadIdx.x] < 100) queue[atomicAdd(&count, 1)] = threadIdx.x; //! bounds queue[96]
    __syncthreads();
    if (threadIdx.x != 0) return;
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += queue[i]; //! bounds
    *y = sum;
}

__global__ void right(const int *x, int *y) {
    __shared__ int queue[128], count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[threadIdx.x] < 100) queue[atomicAdd(&count, 1)] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x != 0) return;
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += queue[i];
    *y = sum;
}

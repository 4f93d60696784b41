// The event is recorded before the launch whose end it should mark.
//> x = ck.asarray(ints(512)); y = ck.empty(1, "i4"); program.symbol("large")[:] = 0
//> ck.synchronize(); a, b = ck.Stream(), ck.Stream()
//> if twin == "wrong": ready = a.record()
//> program.count(2, 256, x, stream=a) //! streams
//> if twin == "right": ready = a.record()
//> b.wait(ready)
//> kernel(1, 1, y, stream=b) //! streams
//= assert y[0].get() == (x.get() > 49).sum()
__device__ int large;

__global__ void count(const int *x) {
    bool is_large = x[blockIdx.x * blockDim.x + threadIdx.x] > 49;
    int counted = __syncthreads_count(is_large);
    if (threadIdx.x == 0) atomicAdd(&large, counted);
}

__global__ void wrong(int *y) {
    *y = large;
    large = 0;
}

__global__ void right(int *y) {
    *y = large;
    large = 0;
}

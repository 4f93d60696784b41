// The default stream does not wait for streams that cudakern creates, nor they for it.
//> x = ck.asarray(ints(500)); squares = ck.zeros(500, "i4"); stream = ck.Stream()
//> total = ck.zeros(1, "i4", stream=stream); ck.synchronize(); at = address(squares)
//> program.square(2, 250, x, at) //! streams
//> if twin == "right": ck.synchronize()
//> kernel(2, 250, at, total, stream=stream) //! streams
//= assert total[0].get() == (x.get() ** 2).sum()
__global__ void square(const int *x, unsigned long long squares) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<int *>(squares)[i] = x[i] * x[i];
}

__global__ void wrong(unsigned long long squares, int *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, reinterpret_cast<const int *>(squares)[i]);
}

__global__ void right(unsigned long long squares, int *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, reinterpret_cast<const int *>(squares)[i]);
}

// A kernel still reads the buffer in one stream when the next batch is written to it in another one.
//> batches = ck.asarray(np.repeat([1, 2], 1024).astype("i4"))
//> buffer = ck.zeros(1024, "i4"); sums = ck.zeros(2, "i4"); ck.synchronize()
//> a, b, at = ck.Stream(), ck.Stream(), address(buffer)
//> program.load(4, 256, batches[:1024], at, stream=a)
//> kernel(4, 256, at, sums[:1], stream=a) //! streams
//> if twin == "right": b.wait(a)
//> program.load(4, 256, batches[1024:], at, stream=b) //! streams
//> kernel(4, 256, at, sums[1:], stream=b)
//= np.testing.assert_array_equal(sums.get(), [1024, 2048])
__global__ void load(const int *batch, unsigned long long buffer) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<int *>(buffer)[i] = batch[i];
}

__global__ void wrong(unsigned long long buffer, int *sum) {
    atomicAdd(sum, reinterpret_cast<const int *>(buffer)[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void right(unsigned long long buffer, int *sum) {
    atomicAdd(sum, reinterpret_cast<const int *>(buffer)[blockIdx.x * blockDim.x + threadIdx.x]);
}

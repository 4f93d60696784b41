// A kernel still reads the buffer in one stream when the next batch is written to it in another one.
//> buffer = ck.zeros(1024, "i4"); sums = ck.zeros(2, "i4"); ck.synchronize(); a, b = ck.Stream(), ck.Stream()
//> program.load(4, 256, address(buffer), 1, stream=a)
//> kernel(4, 256, address(buffer), sums[:1], stream=a) //! streams
//> if twin == "right": b.wait(a)
//> program.load(4, 256, address(buffer), 2, stream=b) //! streams
//> kernel(4, 256, address(buffer), sums[1:], stream=b)
//= np.testing.assert_array_equal(sums.get(), [1024, 2048])
__global__ void load(unsigned long long buffer, int value) {
    reinterpret_cast<int *>(buffer)[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void wrong(unsigned long long buffer, int *sum) {
    atomicAdd(sum, reinterpret_cast<const int *>(buffer)[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void right(unsigned long long buffer, int *sum) {
    atomicAdd(sum, reinterpret_cast<const int *>(buffer)[blockIdx.x * blockDim.x + threadIdx.x]);
}

// The second launch reads what the first one writes, in another stream that does not wait. The kernels get addresses,
// so nobody else orders their work.
//> x = ck.zeros(4096, "f4"); y = ck.empty(4096, "f4"); ck.synchronize(); a, b = ck.Stream(), ck.Stream()
//> program.fill(16, 256, address(x), stream=a) //! streams
//> if twin == "right": b.wait(a)
//> kernel(16, 256, address(x), address(y), stream=b) //! streams
//= np.testing.assert_array_equal(y.get(), np.arange(4096) + 1)
__global__ void fill(unsigned long long x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(x)[i] = i;
}

__global__ void wrong(unsigned long long x, unsigned long long y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(y)[i] = reinterpret_cast<const float *>(x)[i] + 1;
}

__global__ void right(unsigned long long x, unsigned long long y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(y)[i] = reinterpret_cast<const float *>(x)[i] + 1;
}

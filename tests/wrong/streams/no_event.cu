// The second launch reads what the first one writes, in another stream that does not wait. The kernels get addresses,
// so nobody else orders their work.
//> first = ck.asarray(floats(4096)); x = ck.zeros(4096, "f4"); y = ck.empty(4096, "f4"); ck.synchronize()
//> a, b, at = ck.Stream(), ck.Stream(), address(x)
//> program.halve(16, 256, first, at, stream=a) //! streams
//> if twin == "right": b.wait(a)
//> kernel(16, 256, at, y, stream=b) //! streams
//= np.testing.assert_array_equal(y.get(), first.get() / 2 + 1)
__global__ void halve(const float *first, unsigned long long x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(x)[i] = first[i] / 2;
}

__global__ void wrong(unsigned long long x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = reinterpret_cast<const float *>(x)[i] + 1;
}

__global__ void right(unsigned long long x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = reinterpret_cast<const float *>(x)[i] + 1;
}

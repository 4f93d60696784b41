// Values are copied on the device in one stream; the kernel in another one does not wait for them.
//> first = ck.asarray(floats(50_000)); x = ck.zeros(50_000, "f4"); y = ck.empty(50_000, "f4"); ck.synchronize()
//> copies, work, at = ck.Stream(), ck.Stream(), address(x)
//> x.set(first, stream=copies)
//> if twin == "right": work.wait(copies)
//> kernel(200, 250, at, y, stream=work) //! streams
//= np.testing.assert_array_equal(y.get(), -first.get())
__global__ void wrong(unsigned long long x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = -reinterpret_cast<const float *>(x)[i];
}

__global__ void right(unsigned long long x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = -reinterpret_cast<const float *>(x)[i];
}

// The host copies the result back without waiting for the stream in which the kernel writes it. (The kernel got an
// address: the copy cannot know who writes there.)
//> x = ck.asarray(floats(2000)); y = ck.zeros(2000, "f4"); ck.synchronize(); stream = ck.Stream()
//> kernel(8, 250, x, address(y), stream=stream) //! streams
//> if twin == "right": stream.synchronize()
//> result = y.get() //! streams
//= np.testing.assert_array_equal(result, -x.get())
__global__ void wrong(const float *x, unsigned long long y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(y)[i] = -x[i];
}

__global__ void right(const float *x, unsigned long long y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(y)[i] = -x[i];
}

// Two streams work, and the host waits for one of them before it reads the results of both.
//> x = ck.asarray(floats(600)); y, z = ck.zeros(600, "f4"), ck.zeros(600, "f4"); ck.synchronize()
//> a, b = ck.Stream(), ck.Stream()
//> kernel(3, 200, x, address(y), stream=a)
//> kernel(3, 200, x, address(z), stream=b) //! streams
//> a.synchronize()
//> if twin == "right": b.synchronize()
//> results = y.get(), z.get() //! streams
//= np.testing.assert_array_equal(results, [x.get() * x.get()] * 2)
__global__ void wrong(const float *x, unsigned long long y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(y)[i] = x[i] * x[i];
}

__global__ void right(const float *x, unsigned long long y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(y)[i] = x[i] * x[i];
}

// The address that the kernel gets is that of an array in host memory.
//> host = floats(100); x = ck.asarray(host); y = ck.empty(100, "f4")
//> kernel[1, 128](host.ctypes.data if twin == "wrong" else address(x), y, 100)
//= np.testing.assert_array_equal(y.get(), host + 1)
__global__ void wrong(unsigned long long table, float *y, int n) {
    const float *x = reinterpret_cast<const float *>(table);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1; //! bounds host pointer
}

__global__ void right(unsigned long long table, float *y, int n) {
    const float *x = reinterpret_cast<const float *>(table);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}

// Only its address is kept; the array itself is freed before the kernel runs.
//> x = ck.asarray(floats(1000)); h = x.get(); there = address(x); y = ck.empty(1000, "f4")
//> if twin == "wrong": del x
//> kernel[4, 256](there, y, 1000)
//= np.testing.assert_array_equal(y.get(), h + 1)
__global__ void wrong(unsigned long long there, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = reinterpret_cast<const float *>(there)[i] + 1; //! freed
}

__global__ void right(unsigned long long there, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = reinterpret_cast<const float *>(there)[i] + 1;
}

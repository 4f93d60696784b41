// The last thread gives the block's scratch buffer back as soon as it has read it itself. Others may still be
// reading.
//> x = ck.asarray(floats(96)); y = ck.empty(96, "f4"); kernel[1, 96](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[::-1])
__global__ void wrong(const float *x, float *y) {
    __shared__ float *scratch;
    int t = threadIdx.x, last = blockDim.x - 1;
    if (t == 0) scratch = new float[blockDim.x];
    __syncthreads();
    scratch[t] = x[t];
    __syncthreads();
    y[t] = scratch[last - t];        //! freed
    if (t == last) delete[] scratch; //! freed
}

__global__ void right(const float *x, float *y) {
    __shared__ float *scratch;
    int t = threadIdx.x, last = blockDim.x - 1;
    if (t == 0) scratch = new float[blockDim.x];
    __syncthreads();
    scratch[t] = x[t];
    __syncthreads();
    y[t] = scratch[last - t];
    __syncthreads();
    if (t == last) delete[] scratch;
}

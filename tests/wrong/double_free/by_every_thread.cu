// One thread asked for the buffer; every thread frees it.
//> y = ck.empty(32, "i4"); kernel[1, 32](y)
//= np.testing.assert_array_equal(y.get(), np.roll(np.arange(32), -1))
__global__ void wrong(int *y) {
    __shared__ int *buffer;
    if (threadIdx.x == 0) buffer = new int[32];
    __syncthreads();
    buffer[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = buffer[(threadIdx.x + 1) % 32];
    __syncthreads();
    delete[] buffer; //! double_free
}

__global__ void right(int *y) {
    __shared__ int *buffer;
    if (threadIdx.x == 0) buffer = new int[32];
    __syncthreads();
    buffer[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = buffer[(threadIdx.x + 1) % 32];
    __syncthreads();
    if (threadIdx.x == 0) delete[] buffer;
}

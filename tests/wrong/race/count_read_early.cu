// The counter is incremented atomically, but a plain read of it comes before all have counted.
//> x = ck.asarray(ints(256)); y = ck.empty(2, "i4"); kernel[2, 128](x, y)
//= np.testing.assert_array_equal(y.get(), (x.get().reshape(2, 128) > 50).sum(1))
__global__ void wrong(const int *x, int *y) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[blockIdx.x * 128 + threadIdx.x] > 50) atomicAdd(&count, 1); //! race
    if (threadIdx.x == 127) y[blockIdx.x] = count;                    //! race
}

__global__ void right(const int *x, int *y) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[blockIdx.x * 128 + threadIdx.x] > 50) atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 127) y[blockIdx.x] = count;
}

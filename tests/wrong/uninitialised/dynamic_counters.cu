// Dynamic shared memory is not zero at the start of a block: each block begins to count from whatever is there.
//> x = ck.asarray(ints(640)); counts = ck.zeros(100, "i4"); kernel[5, 128, 100 * 4](x, counts)
//= np.testing.assert_array_equal(counts.get(), np.bincount(x.get(), minlength=100))
extern __shared__ int local[];

__global__ void wrong(const int *x, int *counts) {
    atomicAdd(&local[x[blockIdx.x * blockDim.x + threadIdx.x]], 1); //! uninitialised local[0]
    __syncthreads();
    if (threadIdx.x < 100) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]); //! uninitialised
}

__global__ void right(const int *x, int *counts) {
    if (threadIdx.x < 100) local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local[x[blockIdx.x * blockDim.x + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < 100) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

// Atomic operations whose scope is just what their readers need: the block, the device, the system.
//> x = ck.asarray(ints(256)); y = ck.zeros(4, "i4"); z = ck.zeros(2, "i4"); kernel[4, 64](x, y, z)
//= np.testing.assert_array_equal(y.get(), x.get().reshape(4, 64).sum(1))
//= np.testing.assert_array_equal(z.get(), [x.get().sum(), x.get().max()])
__global__ void right(const int *x, int *y, int *z) {
    __shared__ int sum, count;
    if (threadIdx.x == 0) sum = count = 0;
    __syncthreads();
    int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd_block(&y[blockIdx.x], value); // only this block uses that element
    atomicAdd_block(&sum, value);
    __threadfence_block();
    if (atomicAdd_block(&count, 1) == blockDim.x - 1) {
        __threadfence_block();
        atomicAdd(&z[0], atomicAdd_block(&sum, 0));
    }
    atomicMax_system(&z[1], value);
}

// The smallest distance is searched with atomicMin, which compares with what is in memory at first.
//> x = ck.asarray(ints(256)); nearest = ck.empty(4, "i4"); kernel[1, 256](x, nearest)
//= targets = np.array([10, 40, 70, 130])[:, None]
//= np.testing.assert_array_equal(nearest.get(), abs(x.get() - targets).min(1))
__constant__ int targets[4] = {10, 40, 70, 130};

__global__ void wrong(const int *x, int *nearest) {
    for (int k = 0; k < 4; ++k) atomicMin(&nearest[k], abs(x[threadIdx.x] - targets[k])); //! uninitialised
}

__global__ void right(const int *x, int *nearest) {
    if (threadIdx.x < 4) nearest[threadIdx.x] = 0x7fffffff;
    __syncthreads();
    for (int k = 0; k < 4; ++k) atomicMin(&nearest[k], abs(x[threadIdx.x] - targets[k]));
}

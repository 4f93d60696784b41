// A digit of four bits has 16 values; the mask keeps five bits.
//> keys = ck.asarray(ints(256).astype("u4")); counts = ck.empty(16, "i4")
//> kernel[1, 256](keys, counts, 2)
//= np.testing.assert_array_equal(counts.get(), np.bincount(keys.get() >> 2 & 15, minlength=16))
__global__ void wrong(const unsigned *keys, int *counts, int shift) {
    __shared__ int digits[16];
    if (threadIdx.x < 16) digits[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&digits[keys[threadIdx.x] >> shift & 31], 1); //! bounds digits[16]
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x] = digits[threadIdx.x];
}

__global__ void right(const unsigned *keys, int *counts, int shift) {
    __shared__ int digits[16];
    if (threadIdx.x < 16) digits[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&digits[keys[threadIdx.x] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x] = digits[threadIdx.x];
}

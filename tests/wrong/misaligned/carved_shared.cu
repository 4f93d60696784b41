// Dynamic shared memory is carved into flags and doubles. 33 flags of a byte leave the doubles at an odd address.
//> x = ck.asarray(floats(33).astype("f8")); y = ck.empty(33, "f8"); kernel[1, 33, 33 * 9](x, y)
//= np.testing.assert_array_equal(y.get(), np.where(x.get() > 0.5, x.get(), 0))
__global__ void wrong(const double *x, double *y) {
    extern __shared__ unsigned char memory[];
    bool *keep = reinterpret_cast<bool *>(memory);
    double *values = reinterpret_cast<double *>(memory + blockDim.x);
    values[threadIdx.x] = x[threadIdx.x]; //! misaligned
    keep[threadIdx.x] = x[threadIdx.x] > 0.5;
    __syncthreads();
    if (!keep[threadIdx.x]) y[threadIdx.x] = 0;
}

__global__ void right(const double *x, double *y) {
    extern __shared__ __align__(8) unsigned char bytes[];
    double *values = reinterpret_cast<double *>(bytes);
    bool *keep = reinterpret_cast<bool *>(values + blockDim.x);
    values[threadIdx.x] = x[threadIdx.x];
    keep[threadIdx.x] = x[threadIdx.x] > 0.5;
    __syncthreads();
    y[threadIdx.x] = keep[threadIdx.x] ? values[threadIdx.x] : 0;
}

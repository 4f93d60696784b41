// The launch passes the number of elements as the size of the dynamic shared memory, instead of the bytes.
//> x = ck.asarray(floats(512)); y = ck.empty(512, "f4")
//> kernel[2, 256, 256 if twin == "wrong" else 256 * 4](x, y)
//= np.testing.assert_array_equal(y.get().reshape(2, 256), x.get().reshape(2, 256)[:, ::-1])
__global__ void wrong(const float *x, float *y) {
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = x[i]; //! bounds tile[64] of 64
    __syncthreads();
    if (t == 0) y[i] = tile[0];
}

__global__ void right(const float *x, float *y) {
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = x[i];
    __syncthreads();
    y[i] = tile[blockDim.x - 1 - t];
}

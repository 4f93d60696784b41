// The last thread of a block reads the element after the end of the shared tile.
//> x = ck.asarray(floats(1024)); d = ck.empty(1024, "f4")
//> kernel[4, 256](x, d)
//= h = x.get(); np.testing.assert_array_equal(d.get(), np.r_[h[1:], h[:1]] - h)
__global__ void wrong(const float *x, float *d) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = x[i];
    __syncthreads();
    float next = i + 1 < gridDim.x * 256 ? tile[t + 1] : x[0]; //! bounds tile[256]
    d[i] = next - tile[t];
}

__global__ void right(const float *x, float *d) {
    __shared__ float tile[256 + 1];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = x[i];
    if (t == 255) tile[256] = x[(i + 1) % (gridDim.x * 256)];
    __syncthreads();
    d[i] = tile[t + 1] - tile[t];
}

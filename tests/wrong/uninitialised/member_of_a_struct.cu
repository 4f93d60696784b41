// Each thread fills its cell of a table, but forgets one member.
//> x = ck.asarray(floats(32)); y = ck.empty(32, "f4"); kernel[1, 32](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[::-1])
struct cell {
    int count;
    float sum, weight;
};

__global__ void wrong(const float *x, float *y) {
    __shared__ cell cells[32];
    int t = threadIdx.x;
    cells[t].count = 1;
    cells[t].sum = x[t];
    __syncthreads();
    y[t] = cells[31 - t].sum * cells[31 - t].weight; //! uninitialised
}

__global__ void right(const float *x, float *y) {
    __shared__ cell cells[32];
    int t = threadIdx.x;
    cells[t].count = 1;
    cells[t].sum = x[t];
    cells[t].weight = 1;
    __syncthreads();
    y[t] = cells[31 - t].sum * cells[31 - t].weight;
}

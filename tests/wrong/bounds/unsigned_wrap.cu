// i is unsigned: 0 - 1 is not -1 but the largest number, far behind the end of the array.
//> x = ck.asarray(ints(300)); runs = ck.empty(300, "i4")
//> kernel[2, 192](x, runs, 300)
//= h = x.get(); np.testing.assert_array_equal(runs.get(), np.r_[1, h[1:] != h[:-1]])
__global__ void wrong(const int *x, int *starts_run, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    starts_run[i] = x[i - 1] != x[i]; //! bounds x[4294967295]
}

__global__ void right(const int *x, int *starts_run, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    starts_run[i] = i == 0 || x[i - 1] != x[i];
}

// malloc gives memory with unknown contents; the counts are not set to zero before they are counted up.
//> x = ck.asarray(ints(160)); modes = ck.empty(10, "i4"); kernel[1, 10](x, modes)
//= rows = x.get().reshape(10, 16) % 10
//= np.testing.assert_array_equal(modes.get(), [np.bincount(row, minlength=10).max() for row in rows])
__global__ void wrong(const int *x, int *modes) {
    int *counts = static_cast<int *>(malloc(10 * sizeof(int)));
    int most = 0;
    for (int i = 0; i < 16; ++i) {
        int digit = x[16 * threadIdx.x + i] % 10;
        most = max(most, ++counts[digit]); //! uninitialised counts[0]
    }
    modes[threadIdx.x] = most;
    free(counts);
}

__global__ void right(const int *x, int *modes) {
    int *counts = static_cast<int *>(malloc(10 * sizeof(int)));
    memset(counts, 0, 10 * sizeof(int));
    int most = 0;
    for (int i = 0; i < 16; ++i) {
        int digit = x[16 * threadIdx.x + i] % 10;
        most = max(most, ++counts[digit]);
    }
    modes[threadIdx.x] = most;
    free(counts);
}

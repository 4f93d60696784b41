// Threads without work return before they free their buffer.
//> x = ck.asarray(ints(64)); y = ck.zeros(64, "i4"); kernel[1, 64](x, y)
//= h = x.get(); np.testing.assert_array_equal(y.get(), np.where(h > 0, h * (h - 1) // 2, 0))
__global__ void wrong(const int *x, int *y) {
    int n = x[threadIdx.x];
    int *list = static_cast<int *>(malloc(400)); //! leak
    if (!list || n % 2) return;
    for (int i = 0; i < n; ++i) list[i] = i;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += list[i];
    y[threadIdx.x] = sum;
    free(list);
}

__global__ void right(const int *x, int *y) {
    int n = x[threadIdx.x];
    int *list = static_cast<int *>(malloc(400));
    if (!list) return;
    for (int i = 0; i < n; ++i) list[i] = i;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += list[i];
    y[threadIdx.x] = sum;
    free(list);
}

// Each thread makes a list of `length` numbers on the heap, and writes an end mark behind them for which it asked no
// memory.
//> y = ck.empty(32, "i4"); kernel[1, 32](y, 10)
//= np.testing.assert_array_equal(y.get(), 10)
__global__ void wrong(int *y, int length) {
    int *list = static_cast<int *>(malloc(length * sizeof(int)));
    if (!list) return;
    for (int i = 0; i < length; ++i) list[i] = threadIdx.x + i;
    list[length] = -1; //! bounds list[10]
    y[threadIdx.x] = list[length - 1];
    free(list);
}

__global__ void right(int *y, int length) {
    int *list = static_cast<int *>(malloc((length + 1) * sizeof(int)));
    if (!list) return;
    for (int i = 0; i < length; ++i) list[i] = threadIdx.x + i;
    list[length] = -1;
    int count = 0;
    while (list[count] >= 0) ++count;
    y[threadIdx.x] = count;
    free(list);
}

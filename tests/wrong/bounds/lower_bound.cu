// The search may end at n, "behind all elements", and the kernel reads the element there.
//> sorted = np.sort(ints(200)); queries = ints(64) + 50; found = ck.empty(64, "i4")
//> kernel[1, 64](ck.asarray(sorted), 200, ck.asarray(queries), found)
//= np.testing.assert_array_equal(found.get(), np.isin(queries, sorted))
__device__ int lower_bound(const int *sorted, int n, int value) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void wrong(const int *sorted, int n, const int *queries, int *found) {
    int value = queries[threadIdx.x], at = lower_bound(sorted, n, value);
    found[threadIdx.x] = sorted[at] == value; //! bounds sorted[200]
}

__global__ void right(const int *sorted, int n, const int *queries, int *found) {
    int value = queries[threadIdx.x], at = lower_bound(sorted, n, value);
    found[threadIdx.x] = at < n && sorted[at] == value;
}

// The rows of a ragged array are arrays of their own, in a table of addresses. One of them is already freed.
//> rows = [ck.asarray(ints(n)) for n in (30, 700, 20)]; sums = ck.zeros(3, "i4"); total = sum(rows[1].get())
//> table = ck.asarray(np.array([address(row) for row in rows], "u8"))
//> lengths = ck.asarray(np.array([30, 700, 20], "i4"))
//> if twin == "wrong": del rows[1]
//> kernel[3, 64](table, lengths, sums)
//= assert sums[1].get() == total
__global__ void wrong(int *const *table, const int *lengths, int *sums) {
    const int *row = table[blockIdx.x];
    for (int i = threadIdx.x; i < lengths[blockIdx.x]; i += blockDim.x) {
        atomicAdd(&sums[blockIdx.x], row[i]); //! freed
    }
}

__global__ void right(int *const *table, const int *lengths, int *sums) {
    const int *row = table[blockIdx.x];
    for (int i = threadIdx.x; i < lengths[blockIdx.x]; i += blockDim.x) {
        atomicAdd(&sums[blockIdx.x], row[i]);
    }
}

// A hash above 2^31 is negative as an int, and so is its remainder: the slot is before the table.
//> keys = ck.asarray(ints(512)); table = ck.zeros(61, "i4")
//> kernel[4, 128](keys, table, 512, 61)
//= slots = keys.get().astype(np.uint32) * np.uint32(2654435761) % np.uint32(61)
//= np.testing.assert_array_equal(table.get(), np.bincount(slots, minlength=61))
__device__ unsigned hash(int key) {
    return static_cast<unsigned>(key) * 2654435761u;
}

__global__ void wrong(const int *keys, int *table, int n, int slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int slot = static_cast<int>(hash(keys[i])) % slots;
    atomicAdd(&table[slot], 1); //! bounds table[-1]
}

__global__ void right(const int *keys, int *table, int n, int slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned slot = hash(keys[i]) % static_cast<unsigned>(slots);
    atomicAdd(&table[slot], 1);
}

// A hash table whose key is claimed atomically, and whose value is stored afterwards: who finds the key may read the
// slot before the value is there.
//> word = ck.zeros(64, "u8"); value = ck.zeros(64, "i4"); y = ck.empty(256, "i4"); kernel[2, 128](word, value, y)
//= np.testing.assert_array_equal(y.get(), 3 * (1 + np.arange(256) % 40))
__global__ void wrong(unsigned long long *word, int *value, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long key = 1 + i % 40;
    for (int slot = key % 64;; slot = (slot + 1) % 64) {
        unsigned long long seen = atomicCAS(&word[slot], 0ull, key);
        if (seen == 0) value[slot] = 3 * key; //! race
        if (seen != 0 && seen != key) continue;
        y[i] = value[slot]; //! race
        break;
    }
}

__global__ void right(unsigned long long *word, int *value, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long key = 1 + i % 40, both = 3 * key << 32 | key;
    for (int slot = key % 64;; slot = (slot + 1) % 64) {
        unsigned long long seen = atomicCAS(&word[slot], 0ull, both);
        if (seen != 0 && (seen & 0xffffffff) != key) continue;
        y[i] = static_cast<int>((seen ? seen : both) >> 32);
        break;
    }
}

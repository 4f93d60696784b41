// The same, but a volatile read saves the compare-and-swap where the key is there already.
//> x = ck.asarray(ints(600)); keys = ck.asarray(np.full(128, -1, "i4")); counts = ck.zeros(128, "i4")
//> kernel[3, 200](x, keys, counts, 127)
//= k = keys.get(); c = counts.get(); e = np.bincount(x.get(), minlength=100)
//= assert dict(zip(k[k >= 0], c[k >= 0])) == dict(enumerate(e))
__global__ void right(const int *x, int *keys, int *counts, unsigned mask) {
    int key = x[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned place = key * 40503u & mask;
    while (true) {
        int found = static_cast<volatile int *>(keys)[place];
        if (found == -1) {
            found = atomicCAS(&keys[place], -1, key);
            if (found == -1) found = key;
        }
        if (found == key) break;
        place = (place + 1) & mask;
    }
    atomicAdd(&counts[place], 1);
}

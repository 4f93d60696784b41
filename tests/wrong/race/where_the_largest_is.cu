// The largest value is found atomically, its place is not: a thread with a smaller value may write the place last.
//> x = ck.asarray(np.sort(ints(256))); best = ck.zeros(2, "i4"); key = ck.zeros(1, "u8")
//> kernel[2, 128](x, best, key)
//= assert x.get()[key.get()[0] & 0xffffffff] == x.get().max()
__global__ void wrong(const int *x, int *best, unsigned long long *key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicMax(&best[0], x[i]) < x[i]) best[1] = i; //! race best[1]
}

__global__ void right(const int *x, int *best, unsigned long long *key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(key, static_cast<unsigned long long>(x[i]) << 32 | i); // both in one word
}

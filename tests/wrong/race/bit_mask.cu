// 32 threads set the bits of one word with |=.
//> x = ck.asarray(ints(256)); mask = ck.zeros(8, "u4"); kernel[2, 128](x, mask)
//= np.testing.assert_array_equal(np.unpackbits(mask.get().view("u1"), bitorder="little"), x.get() > 50)
__global__ void wrong(const int *x, unsigned *mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 50) mask[i / 32] |= 1u << i % 32; //! race
}

__global__ void right(const int *x, unsigned *mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = __ballot_sync(0xffffffff, x[i] > 50);
    if (i % 32 == 0) mask[i / 32] = word;
}

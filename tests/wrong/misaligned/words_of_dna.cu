// A window of four letters at every position is read as one int: three of four positions are no multiples of 4.
//> text = ck.asarray(np.frombuffer(b"ACGT", "u1")[ints(300) % 4]); codes = ck.empty(297, "u4")
//> kernel[3, 128](text, codes, 297)
//= h = text.get().astype("u4"); e = h[:-3] | h[1:-2] << 8 | h[2:-1] << 16 | h[3:] << 24
//= np.testing.assert_array_equal(codes.get(), e)
__global__ void wrong(const unsigned char *text, unsigned *codes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) codes[i] = *reinterpret_cast<const unsigned *>(&text[i]); //! misaligned
}

__global__ void right(const unsigned char *text, unsigned *codes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned code = 0;
    for (int j = 0; j < 4; ++j) code |= static_cast<unsigned>(text[i + j]) << 8 * j;
    codes[i] = code;
}

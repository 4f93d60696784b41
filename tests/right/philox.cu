// Random numbers by Philox 4x32: a counter per thread, four words at once; the results as a vector.
//> y = ck.empty((64, 4), "u4"); kernel[2, 32](y, 7)
//= assert len(np.unique(y.get())) == 256 and abs(y.get().mean() / 2**32 - 0.5) < 0.1
__global__ void right(unsigned *y, unsigned seed) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, c[4] = {i, 0, 0, 0}, key[2] = {seed, 0};
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        unsigned high0 = __umulhi(0xd2511f53u, c[0]), low0 = 0xd2511f53u * c[0];
        unsigned high1 = __umulhi(0xcd9e8d57u, c[2]), low1 = 0xcd9e8d57u * c[2];
        c[0] = high1 ^ c[1] ^ key[0];
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ key[1];
        c[3] = low0;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    reinterpret_cast<uint4 *>(y)[i] = make_uint4(c[0], c[1], c[2], c[3]);
}

// Shows: the warp reductions that one instruction makes: add, min, max, and, or, xor.
#include <cstdio>

__global__ void reduce(const unsigned *in, unsigned *out) {
    unsigned lane = threadIdx.x, v = in[lane];
    unsigned r[8];
    r[0] = __reduce_add_sync(0xffffffff, v);
    r[1] = __reduce_min_sync(0xffffffff, v);
    r[2] = __reduce_max_sync(0xffffffff, v);
    r[3] = __reduce_and_sync(0xffffffff, v);
    r[4] = __reduce_or_sync(0xffffffff, v);
    r[5] = __reduce_xor_sync(0xffffffff, v);
    r[6] = (unsigned)__reduce_min_sync(0xffffffff, (int)v);
    r[7] = lane % 2 ? __reduce_add_sync(0xaaaaaaaa, lane) : __reduce_add_sync(0x55555555, lane);
    if (lane < 2)
        for (int i = 0; i < 8; i++) out[8 * lane + i] = r[i];
}

int main() {
    unsigned h[32], expected[8] = {0, ~0u, 0, ~0u, 0, 0, 0, 0}, *in, *out, got[16];
    int least = 0x7fffffff;
    for (unsigned i = 0; i < 32; i++) {
        unsigned v = h[i] = 0x40000000u + i * 0x9e3779b9u;
        expected[0] += v;
        expected[1] = v < expected[1] ? v : expected[1];
        expected[2] = v > expected[2] ? v : expected[2];
        expected[3] &= v, expected[4] |= v, expected[5] ^= v;
        least = (int)v < least ? (int)v : least;
    }
    expected[6] = (unsigned)least;
    expected[7] = 240;
    cudaMalloc(&in, sizeof h), cudaMalloc(&out, sizeof got);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    reduce<<<1, 32>>>(in, out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++) printf("%08x %08x\n", got[i], expected[i]);
    printf("%u\n", got[15]);
    cudaFree(in), cudaFree(out);
}

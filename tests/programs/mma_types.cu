// Shows: mma.sync in inline PTX with halves, bfloat16, tf32, bytes and doubles: the bits of many products.
#include <cstdint>
#include <cstdio>
#include <cstring>

__host__ __device__ uint32_t scrambled(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du, x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
// Two numbers of 16 bits with moderate exponents; one of 32 bits; four bytes.
__device__ uint32_t halves(uint32_t n) { return (scrambled(n) & 0x8fff8fff) + 0x30003000; }
__device__ uint32_t bfloats(uint32_t n) { return (scrambled(n) & 0x83ff83ff) + 0x3d003d00; }
__device__ uint32_t floats(uint32_t n) { return (scrambled(n) & 0x83ffffff) + 0x3d000000; }

#define OUT4(d) "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
#define IN4(a) "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define D4_A4_B2_C4 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
#define D4_A2_B1_C4 " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
#define PRODUCT_4(name, d, a, b, c) asm(name D4_A4_B2_C4 : OUT4(d) : IN4(a), "r"(b[0]), "r"(b[1]), IN4(c))
#define PRODUCT_2(name, d, a, b, c) asm(name D4_A2_B1_C4 : OUT4(d) : "r"(a[0]), "r"(a[1]), "r"(b[0]), IN4(c))

__global__ void products(unsigned long long *sums, int rounds) {
    for (int round = 0; round < rounds; round++) {
        uint32_t seed = (round * 32 + threadIdx.x) * 64, a[4], b[2], c[4], h[2], d[9][4] = {};
        for (int i = 0; i < 4; i++) a[i] = halves(seed + i), b[i % 2] = halves(seed + 4 + i), c[i] = floats(seed + 8 + i);
        h[0] = halves(seed + 20), h[1] = halves(seed + 21);
        PRODUCT_4("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", d[0], a, b, c);
        PRODUCT_2("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", d[1], a, b, c);
        asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
            : "=r"(d[2][0]), "=r"(d[2][1]) : IN4(a), "r"(b[0]), "r"(b[1]), "r"(h[0]), "r"(h[1]));
        for (int i = 0; i < 4; i++) a[i] = bfloats(seed + i), b[i % 2] = bfloats(seed + 4 + i);
        PRODUCT_4("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", d[3], a, b, c);
        for (int i = 0; i < 4; i++) a[i] = floats(seed + i), b[i % 2] = floats(seed + 4 + i);
        PRODUCT_4("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", d[4], a, b, c);
        PRODUCT_2("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", d[5], a, b, c);
        for (int i = 0; i < 4; i++) a[i] = scrambled(seed + i), b[i % 2] = scrambled(seed + 4 + i), c[i] = scrambled(seed + 8 + i);
        PRODUCT_4("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", d[6], a, b, c);
        PRODUCT_2("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", d[7], a, b, c);
        double x = int(a[0]) * 0x1p-31, y = int(a[1]) * 0x1p-20, z[2] = {int(a[2]) * 0x1p-31, 3}, w[2];
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
            : "=d"(w[0]), "=d"(w[1]) : "d"(x), "d"(y), "d"(z[0]), "d"(z[1]));
        memcpy(d[8], w, sizeof w);
        for (int kind = 0; kind < 9; kind++)
            for (int i = 0; i < 4; i++) atomicAdd(&sums[kind], (unsigned long long)scrambled(d[kind][i] + seed + i));
    }
}

int main() {
    unsigned long long *sums;
    cudaMallocManaged(&sums, 9 * sizeof *sums);
    for (int i = 0; i < 9; i++) sums[i] = 0;
    products<<<1, 32>>>(sums, 40);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 9; i++) printf("%llx\n", sums[i]);
    cudaFree(sums);
}

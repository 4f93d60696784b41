// Shows: integer intrinsics: bits, bytes, funnel shifts, high products, saturation and packed dot products.
#include <cstdio>

__global__ void bits(unsigned x, unsigned long long y, int *out) {
    int n = 0;
    out[n++] = __popc(x), out[n++] = __popcll(y);
    out[n++] = __clz((int)x), out[n++] = __clzll((long long)y), out[n++] = __clz(0);
    out[n++] = __ffs((int)x), out[n++] = __ffsll((long long)y), out[n++] = __ffs(0);
    out[n++] = (int)__brev(x), out[n++] = (int)(__brevll(y) >> 32);
    out[n++] = (int)__byte_perm(x, ~x, 0x7140);
    out[n++] = (int)__funnelshift_l(x, 0x80000001u, 4), out[n++] = (int)__funnelshift_r(x, 5u, 8);
    out[n++] = __mulhi((int)x, 12345), out[n++] = (int)__umulhi(x, 0xdeadbeefu), out[n++] = __mul24(1000, -3000);
    out[n++] = (int)__umul64hi(y, y), out[n++] = (int)__mul64hi(-(long long)y, (long long)y);
    out[n++] = __sad(-5, 7, 100), out[n++] = (int)__usad(5u, 7u, 100u);
    out[n++] = __hadd(7, 10), out[n++] = __rhadd(7, 10), out[n++] = (int)__uhadd(0xffffffffu, 1u);
    out[n++] = __dp4a(0x01020304, 0x05060708, 1000), out[n++] = __dp4a((int)0xff02fe04, 0x05060708, 0);
    out[n++] = (int)__dp2a_lo(0x00020003, 0x01020304, 0);
    out[n++] = (int)__vadd4(0x01ff02feu, 0x01010101u), out[n++] = (int)__vmaxs2(0x0001ffffu, 0x7fff0001u);
    out[n++] = (int)__vcmpeq4(0x01020304u, 0x01000300u), out[n++] = (int)__vabsdiffu4(0x01020304u, 0x04030201u);
    out[n++] = min(-3, 2) + max(3u, 2u) + abs(-7);
    out[n++] = __float2int_rn(2.5f), out[n++] = __float2int_ru(2.1f), out[n++] = __float_as_int(1.0f);
    out[n++] = (int)__float2uint_rz(3.99f), out[n++] = __double2int_rd(-2.5), out[n++] = __double2hiint(1.0);
    out[n] = 0x7fffffff;
}

int main() {
    int *out, h[64];
    cudaMalloc(&out, sizeof h);
    bits<<<1, 1>>>(0x00f0a5c4u, 0x0123456789abcdf0ull, out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; h[i] != 0x7fffffff; i++) printf("%d%c", h[i], i % 8 == 7 ? '\n' : ' ');
    printf("\n");
    cudaFree(out);
}

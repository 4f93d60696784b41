// Shows: inline PTX: operands, constraints, predicates, special registers and a named temporary.
#include <cstdio>

__device__ __forceinline__ unsigned lane_id() {
    unsigned id;
    asm("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}
__device__ int mad(int a, int b, int c) {
    int d;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__device__ unsigned cube_bits(unsigned x) {
    unsigned y;
    asm("{\n\t"
        " .reg .u32 t1;\n\t"
        " mul.lo.u32 t1, %1, %1;\n\t"
        " mul.lo.u32 %0, t1, %1;\n\t"
        "}"
        : "=r"(y)
        : "r"(x));
    return y;
}
__device__ int select(int a, int b) {
    int r;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.s32 %0, %1, %2, p; }" : "=r"(r) : "r"(a), "r"(b) : "memory");
    return r;
}

__global__ void work(const float *in, unsigned long long *out) {
    int i = threadIdx.x;
    float f, g = in[i];
    asm("fma.rn.f32 %0, %1, %1, %2;" : "=f"(f) : "f"(g), "f"(1.0f));
    unsigned reversed, bits = i;
    asm("brev.b32 %0, %1;" : "=r"(reversed) : "r"(bits));
    long long wide;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(-1000000), "n"(1000000));
    unsigned carry_low, carry_high;
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;" : "=r"(carry_low), "=r"(carry_high) : "r"(0xffffffffu), "r"((unsigned)i));
    int count = i;
    asm("add.s32 %0, %0, %1;" : "+r"(count) : "r"(7));
    out[i] = (unsigned)f + 1000ull * mad(i, 2, 3) + 1000000ull * cube_bits(i % 10) + 1000000000ull * lane_id();
    if (i == 5)
        out[32] = reversed, out[33] = (unsigned long long)wide, out[34] = carry_low, out[35] = carry_high, out[36] = count,
        out[37] = (unsigned long long)select(9, -4) & 0xff;
}

int main() {
    float *in;
    unsigned long long *out;
    cudaMallocManaged(&in, 32 * sizeof *in);
    cudaMallocManaged(&out, 38 * sizeof *out);
    for (int i = 0; i < 32; i++) in[i] = float(i);
    work<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    printf("%llu %llu %llu\n", out[0], out[9], out[31]);
    printf("%llu %lld %llu %llu %llu %llu\n", out[32], (long long)out[33], out[34], out[35], out[36], out[37]);
    cudaFree(in), cudaFree(out);
}

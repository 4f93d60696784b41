// Shows: kernel parameters of all kinds: arrays, pointers to arrays and pointers, unnamed ones, bools, typedefs.
#include <cstdio>
#include <cstdint>
#include <cstddef>

enum Color { RED = 1, GREEN = 20 };
typedef float Row[4];
union Bits { float f; uint32_t u; };

__global__ void arrays(int a[8], const int b[], float (*m)[4], Row *rows, int **table, int n) {
    a[0] = b[1] + int(m[1][2]) + int(rows[2][3]) + table[1][0] + n;
}
__global__ void scalars(int *out, bool yes, char c, unsigned char u, short s, int64_t w, size_t z, double d, Color color, Bits bits,
                        int, float = 0) {
    *out = yes + c + u + s + int(w >> 32) + int(z) + int(d) + color + (bits.u == 0x3f800000u ? 1000 : 0);
}
__global__ void nothing() {}
__global__ void constant(int *const out, const int *const in, const volatile int *w, void *v, std::nullptr_t) {
    *out = *in + *w + *static_cast<int *>(v);
}

int main() {
    int *a, *b, **table;
    float *m;
    cudaMallocManaged(&a, 32), cudaMallocManaged(&b, 32), cudaMallocManaged(&table, 16), cudaMallocManaged(&m, 64);
    for (int i = 0; i < 16; i++) m[i] = i;
    for (int i = 0; i < 8; i++) b[i] = 100 * i;
    table[0] = a, table[1] = b + 7;
    arrays<<<1, 1>>>(a, b, (float (*)[4])m, reinterpret_cast<Row *>(m), table, 5);
    cudaDeviceSynchronize();
    printf("%d\n", a[0]);
    Bits bits;
    bits.f = 1;
    scalars<<<1, 1>>>(a, true, 'A', 255, -300, int64_t{9} << 32, sizeof(double), 2.75, GREEN, bits, 0);
    cudaDeviceSynchronize();
    printf("%d\n", *a);
    nothing<<<1, 1>>>();
    constant<<<1, 1>>>(a, b + 1, b + 2, b + 3, nullptr);
    cudaDeviceSynchronize();
    printf("%d\n", *a);
    cudaFree(a), cudaFree(b), cudaFree(table), cudaFree(m);
}

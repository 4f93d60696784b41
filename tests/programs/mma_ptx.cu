// Shows: mma.sync and ldmatrix in inline PTX: one product of 16 x 8 x 16 halves by a warp.
#include <cstdio>
#include <cstdint>
#include <cuda_fp16.h>

__global__ void product(const half *a, const half *b, float *c) {
    __shared__ alignas(16) half sa[16 * 16], sb[8 * 16];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) sa[i] = a[i];
    for (int i = lane; i < 128; i += 32) sb[i] = b[i]; // columns of B, one after the other
    __syncwarp();
    uint32_t ra[4], rb[2];
    uint32_t from_a = (uint32_t)__cvta_generic_to_shared(sa + (lane % 16) * 16 + lane / 16 * 8);
    uint32_t from_b = (uint32_t)__cvta_generic_to_shared(sb + (lane % 8) * 16 + lane / 8 % 2 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(from_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(from_b));
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    int row = lane / 4, column = lane % 4 * 2;
    c[row * 8 + column] = d[0], c[row * 8 + column + 1] = d[1];
    c[(row + 8) * 8 + column] = d[2], c[(row + 8) * 8 + column + 1] = d[3];
}

int main() {
    half *a, *b;
    float *c;
    cudaMallocManaged(&a, 512), cudaMallocManaged(&b, 256), cudaMallocManaged(&c, 512);
    for (int i = 0; i < 256; i++) a[i] = __float2half(float(i % 9 - 4));
    for (int i = 0; i < 128; i++) b[i] = __float2half(float(i % 7 - 3));
    product<<<1, 32>>>(a, b, c);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 8; n++) {
            int s = 0;
            for (int k = 0; k < 16; k++) s += ((m * 16 + k) % 9 - 4) * ((n * 16 + k) % 7 - 3);
            wrong += c[m * 8 + n] != float(s);
        }
    printf("%g %g, %d wrong\n", c[1], c[127], wrong);
    cudaFree(a), cudaFree(b), cudaFree(c);
}

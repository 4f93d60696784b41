// Shows: atomic operations on floats, doubles, 64-bit integers and halves, with the values that they return.
#include <cstdio>
#include <cuda_fp16.h>

struct Results {
    float f, exchanged;
    double d;
    unsigned long long add, low, high, cas, bits;
    long long smallest;
    __half h;
    __half2 h2;
    int old_sum, scoped;
};

__global__ void work(Results *r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&r->f, 0.5f);
    atomicAdd(&r->d, 0.25);
    atomicAdd(&r->add, 1ull << 32);
    atomicMin(&r->low, 5000000000ull + i);
    atomicMax(&r->high, 5000000000ull + i);
    atomicMin(&r->smallest, -(long long)i);
    atomicOr(&r->bits, 1ull << (i % 64));
    atomicCAS(&r->cas, 7ull, 1ull << 50);
    atomicAdd(&r->h, __float2half(1.0f));
    atomicAdd(&r->h2, __floats2half2_rn(1.0f, -1.0f));
    if (i == 0) r->old_sum = int(atomicExch(&r->exchanged, 2.5f));
    atomicAdd_system(&r->scoped, 1);
    atomicAdd_block(&r->scoped, blockIdx.x == 0 ? 0 : 0);
}

int main() {
    Results h = {}, *d;
    h.low = ~0ull, h.cas = 7, h.exchanged = 9;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
    work<<<4, 64>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %g %d\n", h.f, h.d, h.exchanged, h.old_sum);
    printf("%llu %llu %llu %llu %llx %lld\n", h.add >> 32, h.low, h.high, h.cas >> 50, h.bits, h.smallest);
    printf("%g %g %g %d\n", __half2float(h.h), __low2float(h.h2), __high2float(h.h2), h.scoped);
    cudaFree(d);
}

// Shows: the compiler's own atomic functions with orders and scopes.
#include <cstdio>

__global__ void work(int *counter, unsigned *bits, float *sum, int *data, int *flag) {
    __nv_atomic_fetch_add(counter, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_or(bits, 1u << (threadIdx.x % 32), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_add(sum, 0.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 99;
        int one = 1;
        __nv_atomic_store(flag, &one, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    } else {
        int seen;
        do __nv_atomic_load(flag, &seen, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        while (!seen);
        __nv_atomic_fetch_max(counter + 1, *data + (int)blockIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
}

int main() {
    int *p, h[6];
    cudaMalloc(&p, sizeof h);
    cudaMemset(p, 0, sizeof h);
    work<<<4, 64>>>(p, (unsigned *)p + 2, (float *)p + 3, p + 4, p + 5);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %x %g\n", h[0], h[1], h[2], __builtin_bit_cast(float, h[3]));
    cudaFree(p);
}

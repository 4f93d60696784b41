// Shows: cuda::atomic and cuda::atomic_ref with orders and scopes: a counter, a flag between blocks, a spin lock.
#include <cstdio>
#include <new>
#include <cuda/atomic>

struct Shared {
    cuda::atomic<int, cuda::thread_scope_device> counter, flag, lock;
    int payload, protected_sum, plain;
    unsigned long long high;
};

__global__ void work(Shared *s) {
    s->counter.fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> plain(s->plain);
    plain.fetch_sub(2, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(s->high).fetch_max(threadIdx.x * 3ull);
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            s->payload = 42;
            s->flag.store(1, cuda::memory_order_release);
        } else {
            while (s->flag.load(cuda::memory_order_acquire) == 0) {}
            int expected = 0;
            while (!s->lock.compare_exchange_weak(expected, 1, cuda::memory_order_acquire)) expected = 0;
            s->protected_sum += s->payload;
            s->lock.store(0, cuda::memory_order_release);
        }
    }
}

int main() {
    Shared *s;
    cudaMallocManaged(&s, sizeof *s);
    new (s) Shared{};
    work<<<5, 64>>>(s);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d %d %d %llu\n", s->counter.load(), s->protected_sum, s->plain, s->high);
    s->counter = 7;
    s->counter++;
    printf("%d\n", s->counter.exchange(1));
    cudaFree(s);
}

// Shows: cuda::latch within a block, and cuda::binary_semaphore between the blocks of a grid.
#include <cstdio>
#include <new>
#include <cuda/latch>
#include <cuda/semaphore>

using latch = cuda::latch<cuda::thread_scope_block>;

__global__ void gathered(const int *in, int *out) {
    __shared__ alignas(latch) unsigned char storage[sizeof(latch)];
    __shared__ int sum;
    latch &ready = *reinterpret_cast<latch *>(storage);
    if (threadIdx.x == 0) new (&ready) latch(blockDim.x), sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[threadIdx.x]);
    ready.arrive_and_wait();
    out[threadIdx.x] = sum - in[threadIdx.x];
}

__global__ void guarded(cuda::binary_semaphore<cuda::thread_scope_device> *mutex, int *value) {
    if (threadIdx.x) return;
    mutex->acquire();
    *(volatile int *)value = *(volatile int *)value + 3;
    mutex->release();
}

int main() {
    int *in, *out;
    cuda::binary_semaphore<cuda::thread_scope_device> *mutex;
    cudaMallocManaged(&in, 64 * sizeof(int));
    cudaMallocManaged(&out, 64 * sizeof(int));
    cudaMallocManaged(&mutex, sizeof *mutex);
    new (mutex) cuda::binary_semaphore<cuda::thread_scope_device>(1);
    for (int i = 0; i < 64; i++) in[i] = i;
    gathered<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    printf("%d %d\n", out[0], out[63]);
    *in = 0;
    guarded<<<20, 32>>>(mutex, in);
    cudaDeviceSynchronize();
    printf("%d\n", *in);
    cudaFree(in), cudaFree(out), cudaFree(mutex);
}

// Shows: cuda::barrier in shared memory: arrive and wait apart, producers and consumers, and memcpy_async.
#include <cstdio>
#include <cuda/barrier>
#include <cooperative_groups.h>

using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void split_arrive_wait(const int *in, int *out, int rounds) {
    __shared__ barrier bar;
    __shared__ int tile[128];
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    int v = in[threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        tile[threadIdx.x] = v;
        barrier::arrival_token token = bar.arrive();
        int own = v * 2;
        bar.wait(std::move(token));
        v = own + tile[(threadIdx.x + 1) % blockDim.x];
        bar.arrive_and_wait();
    }
    out[threadIdx.x] = v;
}

__global__ void staged(const int *in, int *out, int n) {
    __shared__ barrier bar;
    __shared__ int buffer[128];
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int first = 0; first < n; first += 128) {
        cuda::memcpy_async(block, buffer, in + first, sizeof(int) * 128, bar);
        bar.arrive_and_wait();
        out[first + threadIdx.x] = buffer[127 - threadIdx.x] + 1;
        bar.arrive_and_wait();
    }
}

int main() {
    const int n = 512;
    int *in, *out, h[128], next[128], wrong = 0;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, n * sizeof(int));
    for (int i = 0; i < n; i++) in[i] = i * 3 % 50;
    split_arrive_wait<<<1, 128>>>(in, out, 6);
    cudaDeviceSynchronize();
    for (int i = 0; i < 128; i++) h[i] = in[i];
    for (int r = 0; r < 6; r++) {
        for (int i = 0; i < 128; i++) next[i] = 2 * h[i] + h[(i + 1) % 128];
        for (int i = 0; i < 128; i++) h[i] = next[i];
    }
    for (int i = 0; i < 128; i++) wrong += out[i] != h[i];
    printf("%d, %d wrong\n", out[5], wrong);
    staged<<<1, 128>>>(in, out, n);
    cudaDeviceSynchronize();
    for (int i = wrong = 0; i < n; i++) wrong += out[i] != in[i / 128 * 128 + 127 - i % 128] + 1;
    printf("%d, %d wrong\n", out[n - 1], wrong);
    cudaFree(in), cudaFree(out);
}

// Shows: a non-type template argument that a switch over the block's size chooses.
#include <cstdio>
#include <cstdlib>

#define CUDA_CALL(x) do { if ((x) != cudaSuccess) { \
    printf("Error at %s:%d\n", __FILE__, __LINE__); \
    return EXIT_FAILURE; } } while (0)

template <unsigned int blockSize>
__global__ void block_sum(const int *in, int *out)
{
    __shared__ int cache[blockSize];
    unsigned int tid = threadIdx.x;
    cache[tid] = in[blockIdx.x * blockSize + tid];
    __syncthreads();
#pragma unroll
    for (unsigned int s = blockSize / 2; s > 0; s >>= 1) {
        if (tid < s) cache[tid] += cache[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = cache[0];
}

int main()
{
    const int n = 4096;
    int h[n], *in, *out;
    for (int i = 0; i < n; i++) h[i] = i % 7;
    CUDA_CALL(cudaMalloc(&in, sizeof(h)));
    CUDA_CALL(cudaMalloc(&out, sizeof(h)));
    CUDA_CALL(cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice));
    for (int threads = 512; threads >= 64; threads /= 2) {
        int blocks = n / threads;
        switch (threads) {
        case 512: block_sum<512><<<blocks, threads>>>(in, out); break;
        case 256: block_sum<256><<<blocks, threads>>>(in, out); break;
        case 128:
            block_sum<128><<< blocks, threads >>>(in, out);
            break;
        default: block_sum< 64><<<blocks, 64>>>(in, out);
        }
        int part[n / 64], sum = 0;
        CUDA_CALL(cudaMemcpy(part, out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
        for (int b = 0; b < blocks; b++) sum += part[b];
        printf("%d threads: %d\n", threads, sum);
    }
    CUDA_CALL(cudaFree(in));
    CUDA_CALL(cudaFree(out));
    return EXIT_SUCCESS;
}
